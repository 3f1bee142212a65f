-- Counts the jobs of a kind or a user in a partition.
--
-- ARGV[1] kind; '' for all   ARGV[2] user; '' for all   ARGV[3] when the day began, ms
-- ARGV[4] number of states; for each its name, and '1' if a job in it has ended
-- Then the jobs that are about to be opened: one that is not open yet counts, too.
-- Returns how many have not ended, and how many were created on the day.

local open, today, ended = 0, 0, {}
local kinds = ARGV[1] ~= '' and { ARGV[1] } or redis.call('SMEMBERS', P .. ':kinds')
local of_user = ARGV[2] ~= '' and ':' .. ARGV[2] or ''

local function created_today(list)
  local first = redis.call('ZRANGEBYSCORE', list, ARGV[3], '+inf', 'LIMIT', 0, 1)[1]
  return first and redis.call('ZCARD', list) - redis.call('ZRANK', list, first) or 0
end

local at = 4
for _ = 1, tonumber(ARGV[4]) do
  local state = ARGV[at + 1]
  ended[state] = ARGV[at + 2] == '1'
  for _, kind in ipairs(kinds) do
    local list = P .. ':jobs-by:' .. state .. ':' .. kind .. of_user
    if not ended[state] then open = open + redis.call('ZCARD', list) end
    today = today + created_today(list)
  end
  at = at + 2
end
for i = at + 1, #ARGV do
  local state = redis.call('HGET', P .. ':job:' .. ARGV[i], 'state')
  if not state then today = today + 1 end
  if not state or ended[state] then open = open + 1 end
end
return { open, today }
