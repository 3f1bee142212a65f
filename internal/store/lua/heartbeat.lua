-- A node gives a sign of life, which counts for ms. Returns the nodes of which none counts any more; 0 if another
-- start holds the node's name.
local node, ms, account, start = unpack(ARGV)
local holder = redis.call('HGET', P .. ':holders', node) or ''
if holder ~= '' and holder ~= start then return timed(0) end
redis.call('HSET', P .. ':holders', node, start)
redis.call('HSET', P .. ':accounts', node, account)
redis.call('ZADD', P .. ':nodes', num(NOW + ms), node)
return timed(redis.call('ZRANGEBYSCORE', P .. ':nodes', '-inf', num(NOW)))
