-- Sets anew when something lapses, or is due: the lease of a run, a task under way.
-- What is not there is left alone.
--
-- ARGV[1] zset   ARGV[2] member   ARGV[3] ms from now

return timed(redis.call('ZADD', P .. ':' .. ARGV[1], 'XX', num(NOW + ARGV[3]), ARGV[2]))
