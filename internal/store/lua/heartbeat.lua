-- A node gives a sign of life.
--
-- ARGV[1] node   ARGV[2] for how many ms it counts   ARGV[3] its account; '' for none
-- ARGV[4] the start of its server
-- Returns the nodes of which none counts any more; 0 if another start holds the node's name.

local holder = redis.call('HGET', P .. ':holders', ARGV[1]) or ''
if holder ~= '' and holder ~= ARGV[4] then return timed(0) end
redis.call('HSET', P .. ':holders', ARGV[1], ARGV[4])
redis.call('HSET', P .. ':accounts', ARGV[1], ARGV[3])
redis.call('ZADD', P .. ':nodes', num(NOW + ARGV[2]), ARGV[1])
return timed(redis.call('ZRANGEBYSCORE', P .. ':nodes', '-inf', num(NOW)))
