-- Lists what is due. It is fired by a commit that checks again whether it is due, so any node may
-- fire it, twice or late. Housekeeping comes last: little of it is listed while anything else is due.
--
-- ARGV[1] most to list of each set   ARGV[2…] zsets and clocks to which the grace period applies
-- Returns how many ms remain until more is due, -1 when nothing is set; and then, for each, its zset
-- and member, and the job of a run of an action.

local answer, next_due = { -1 }, -1
local function sooner(ms)
  if next_due < 0 or ms < next_due then next_due = math.max(0, ms) end
end
local has_grace = {}
for i = 2, #ARGV do has_grace[ARGV[i]] = GRACE > 0 end
local function list(name, most)
  local zset = P .. ':' .. name
  local due = redis.call('ZRANGEBYSCORE', zset, '-inf', num(NOW), 'WITHSCORES', 'LIMIT', 0, most)
  for i = 1, #due, 2 do
    local member = due[i]
    if name == 'deadlines' and (string.find(member, '^purge|') or string.find(member, '^forget|')) then
      redis.call('ZREM', zset, member) -- an earlier version has put it there
      redis.call('ZADD', P .. ':housekeeping', due[i + 1], member)
    elseif name == 'housekeeping' and redis.call('ZSCORE', P .. ':deadlines', member) then
      redis.call('ZREM', zset, member) -- an earlier version has set it again
    elseif has_grace[name] or has_grace[string.match(member, '^%a+')] then
      redis.call('ZADD', zset, num(NOW + GRACE), member)
    else
      answer[#answer + 1] = name
      answer[#answer + 1] = member
      answer[#answer + 1] = name == 'acting' and redis.call('HGET', P .. ':action:' .. member, 'job') or ''
    end
  end
  if #due == 2 * most then sooner(0) end
  local first = redis.call('ZRANGEBYSCORE', zset, '(' .. num(NOW), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if first[2] then sooner(tonumber(first[2]) - NOW) end
end
list('deadlines', tonumber(ARGV[1]))
list('acting', tonumber(ARGV[1]))
local others = #answer > 1
list('housekeeping', others and 4 or tonumber(ARGV[1]))
answer[1] = next_due
return timed(answer)
