-- Lists what is due, at most some of each set. It is fired by a commit that checks again whether it is due, so any node
-- may fire it, twice or late. Housekeeping comes last: little of it is listed while anything else is due. Behind most
-- are the zsets and clocks to which the grace period applies. Returns how many ms remain until more is due, -1 when
-- nothing is set; and then, for each, its zset and member, and the job of a run of an action.
local most = tonumber(ARGV[1])
local answer, next_due = { -1 }, -1
local function sooner(ms)
  if next_due < 0 or ms < next_due then next_due = math.max(0, ms) end
end
local has_grace = {}
for i = 2, #ARGV do has_grace[ARGV[i]] = GRACE > 0 end
local function list(name, limit)
  local zset = P .. ':' .. name
  local due = redis.call('ZRANGEBYSCORE', zset, '-inf', num(NOW), 'WITHSCORES', 'LIMIT', 0, limit)
  for i = 1, #due, 2 do
    local member = due[i]
    if name == 'deadlines' and (string.find(member, '^purge|') or string.find(member, '^forget|')) then
      redis.call('ZREM', zset, member) -- an earlier version has put it there
      redis.call('ZADD', P .. ':housekeeping', due[i + 1], member)
    elseif has_grace[name] or has_grace[string.match(member, '^%a+')] then
      redis.call('ZADD', zset, num(NOW + GRACE), member)
    else
      local job = name == 'acting' and redis.call('HGET', P .. ':action:' .. member, 'job') or ''
      for _, value in ipairs({ name, member, job }) do answer[#answer + 1] = value end
    end
  end
  if #due == 2 * limit then sooner(0) end
  local first = redis.call('ZRANGEBYSCORE', zset, '(' .. num(NOW), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if first[2] then sooner(tonumber(first[2]) - NOW) end
end
list('deadlines', most)
list('acting', most)
list('housekeeping', #answer > 1 and 4 or most)
answer[1] = next_due
return timed(answer)
