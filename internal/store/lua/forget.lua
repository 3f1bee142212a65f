-- Forgets a node of which nothing is left, unless it has given a sign of life meanwhile.
--
-- ARGV[1] node

local at = redis.call('ZSCORE', P .. ':nodes', ARGV[1])
if not at or tonumber(at) > NOW then return timed(0) end
redis.call('HDEL', P .. ':accounts', ARGV[1])
redis.call('HDEL', P .. ':holders', ARGV[1])
return timed(redis.call('ZREM', P .. ':nodes', ARGV[1]))
