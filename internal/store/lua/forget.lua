-- Forgets a node that has nothing left, unless it has given another sign of life.
local node = ARGV[1]
local lapses = redis.call('ZSCORE', P .. ':nodes', node)
if not lapses or tonumber(lapses) > NOW then return timed(0) end
redis.call('HDEL', P .. ':accounts', node)
redis.call('HDEL', P .. ':holders', node)
return timed(redis.call('ZREM', P .. ':nodes', node))
