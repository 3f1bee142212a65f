-- Counts the jobs of a kind or a user ('' for all) in a partition: how many have not ended, and how many were created
-- since the day began. states: their names, behind each '1' if a job in it has ended. The other arguments are jobs that
-- are about to be opened: one that is not open yet counts, too.
local kind, user, day, states = unpack(ARGV)
local open, today, ended, at = 0, 0, {}, 4 + 2 * states
local kinds = kind ~= '' and { kind } or redis.call('SMEMBERS', P .. ':kinds')
for i = 5, at, 2 do
  local state = ARGV[i]
  ended[state] = ARGV[i + 1] == '1'
  for _, its in ipairs(kinds) do
    local list = P .. ':jobs-by:' .. state .. ':' .. its .. (user ~= '' and ':' .. user or '')
    if not ended[state] then open = open + redis.call('ZCARD', list) end
    local first = redis.call('ZRANGEBYSCORE', list, day, '+inf', 'LIMIT', 0, 1)[1]
    if first then today = today + redis.call('ZCARD', list) - redis.call('ZRANK', list, first) end
  end
end
for i = at + 1, #ARGV do
  local state = redis.call('HGET', P .. ':job:' .. ARGV[i], 'state')
  if not state then today = today + 1 end
  if not state or ended[state] then open = open + 1 end
end
return { open, today }
