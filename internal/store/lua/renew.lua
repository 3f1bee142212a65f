-- Sets a later time, ms from now, at which something lapses or is due: the lease of a run, a clock that could not be
-- fired. What is gone is left alone, and so is what was set to a later time.
local zset, member, ms = unpack(ARGV)
return timed(redis.call('ZADD', P .. ':' .. zset, 'XX', 'GT', num(NOW + ms), member))
