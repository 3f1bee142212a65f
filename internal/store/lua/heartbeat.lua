-- A node gives a sign of life.
--
-- ARGV[1] node   ARGV[2] for how many ms it counts   ARGV[3] its account; '' for none
-- Returns the nodes of which none counts any more.

redis.call('HSET', P .. ':accounts', ARGV[1], ARGV[3])
redis.call('ZADD', P .. ':nodes', num(NOW + ARGV[2]), ARGV[1])
return timed(redis.call('ZRANGEBYSCORE', P .. ':nodes', '-inf', num(NOW)))
