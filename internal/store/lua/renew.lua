-- Sets a later time at which something lapses, or is due: the lease of a run, a clock that could not be fired.
-- What is not there is left alone, and so is what was set to a time after that.
--
-- ARGV[1] zset   ARGV[2] member   ARGV[3] ms from now

return timed(redis.call('ZADD', P .. ':' .. ARGV[1], 'XX', 'GT', num(NOW + ARGV[3]), ARGV[2]))
