-- A start of a server takes the name of its node, unless another start holds it.
--
-- ARGV[1] node   ARGV[2] the start; '' gives the name back   ARGV[3] a start that has ended; '' for none
-- Returns the start that holds the name, if it is another one, when its last heartbeat lapses, and in how many ms.

local holder = redis.call('HGET', P .. ':holders', ARGV[1]) or ''
if holder ~= '' and holder ~= ARGV[2] and holder ~= ARGV[3] then
  local lapses = redis.call('ZSCORE', P .. ':nodes', ARGV[1])
  return timed({ holder, lapses or '', num(math.max(0, tonumber(lapses or 0) - NOW)) })
end
redis.call('HSET', P .. ':holders', ARGV[1], ARGV[2])
return timed({})
