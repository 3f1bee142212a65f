-- Leases what is due: whoever gets it fires it, and if that one dies, the next who asks
-- after the lease. What has fired is not due any more.
--
-- ARGV[1] lease, ms   ARGV[2] most to lease
-- Returns how many ms remain until the next is due, -1 when none is; and then, for each,
-- its zset and member, and the job of a run of an action.

local next_due, answer = -1, { -1 }
for _, name in ipairs({ 'deadlines', 'acting' }) do
  local zset = P .. ':' .. name
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', zset, '-inf', num(NOW), 'LIMIT', 0, ARGV[2])) do
    if redis.call('SET', P .. ':lease:' .. member, '1', 'NX', 'PX', ARGV[1]) then
      answer[#answer + 1] = name
      answer[#answer + 1] = member
      answer[#answer + 1] = name == 'acting' and redis.call('HGET', P .. ':action:' .. member, 'job') or ''
    end
  end
end
local first = redis.call('ZRANGEBYSCORE', P .. ':deadlines', '(' .. num(NOW), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
if first[2] then answer[1] = math.max(0, tonumber(first[2]) - NOW) end
return answer
