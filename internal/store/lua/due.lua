-- Leases what is due: whoever gets it fires it, and if that one dies, the next who asks
-- after the lease. What has fired is not due any more. A lease is of one due time: a clock that
-- was set again since is leased anew.
--
-- ARGV[1] lease, ms   ARGV[2] most to lease
-- Returns how many ms remain until the next is due, or a lease ends, -1 when nothing is;
-- and then, for each, its zset and member, and the job of a run of an action.

local next_due, answer = -1, { -1 }
local function sooner(ms)
  if next_due < 0 or ms < next_due then next_due = math.max(0, ms) end
end
for _, name in ipairs({ 'deadlines', 'acting' }) do
  local zset = P .. ':' .. name
  local due = redis.call('ZRANGEBYSCORE', zset, '-inf', num(NOW), 'WITHSCORES', 'LIMIT', 0, ARGV[2])
  for i = 1, #due, 2 do
    local member, at = due[i], due[i + 1]
    local lease = P .. ':lease:' .. member
    local of, ends = string.match(redis.call('GET', lease) or '', '^(.+)|(.+)$')
    if of ~= at or tonumber(ends) <= NOW then
      ends = num(NOW + ARGV[1])
      redis.call('SET', lease, at .. '|' .. ends, 'PX', ARGV[1])
      answer[#answer + 1] = name
      answer[#answer + 1] = member
      answer[#answer + 1] = name == 'acting' and redis.call('HGET', P .. ':action:' .. member, 'job') or ''
    end
    sooner(tonumber(ends) - NOW)
  end
  local first = redis.call('ZRANGEBYSCORE', zset, '(' .. num(NOW), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if first[2] then sooner(tonumber(first[2]) - NOW) end
end
answer[1] = next_due
return timed(answer)
