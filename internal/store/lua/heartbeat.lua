-- Notes that a node is alive.
--
-- ARGV[1] node   ARGV[2] ms until the node counts as lost

redis.call('ZADD', P .. ':nodes', num(NOW + tonumber(ARGV[2])), ARGV[1])
redis.call('ZREMRANGEBYSCORE', P .. ':nodes', '-inf', num(NOW - 86400000))
return 'ok'
