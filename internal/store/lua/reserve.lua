-- Notes that a job is about to be opened, behind all that were noted before. It is forgotten after ms. Returns the
-- store's time and the openings before.
local opening, ms = unpack(ARGV)
local key = P .. ':opening'
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', num(NOW - ms))) do redis.call('ZREM', key, gone) end
redis.call('ZREM', key, opening)
local before, latest = redis.call('ZRANGE', key, 0, -1), redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')[2]
redis.call('ZADD', key, num(math.max(NOW, (latest or -1) + 1)), opening)
redis.call('PEXPIRE', key, ms)
return timed({ NOW, before })
