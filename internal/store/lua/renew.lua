-- Sets anew when something lapses, or is due: a node's heartbeat, the lease of a run, a
-- task that is put off.
--
-- ARGV[1] zset   ARGV[2] member   ARGV[3] ms from now   ARGV[4] "XX": only if it is there

if ARGV[4] == 'XX' then return redis.call('ZADD', P .. ':' .. ARGV[1], 'XX', num(NOW + ARGV[3]), ARGV[2]) end
return redis.call('ZADD', P .. ':' .. ARGV[1], num(NOW + ARGV[3]), ARGV[2])
