-- A start of a server takes the name of its node, unless another start holds it.
--
-- ARGV[1] node   ARGV[2] the start; '' gives the name back   ARGV[3] a start that has ended; '' for none
-- Returns the start that holds the name, if it is another one, and when its last heartbeat lapses.

local holder = redis.call('HGET', P .. ':holders', ARGV[1]) or ''
if holder ~= '' and holder ~= ARGV[2] and holder ~= ARGV[3] then
  return timed({ holder, redis.call('ZSCORE', P .. ':nodes', ARGV[1]) or '' })
end
redis.call('HSET', P .. ':holders', ARGV[1], ARGV[2])
return timed({})
