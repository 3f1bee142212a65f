-- Claude has heard how a run ended: the same call means another run from now on.
--
-- ARGV[1] request id   ARGV[2] what ran   ARGV[3] run

if redis.call('HGET', job_key(ARGV[1]), 'run:' .. ARGV[2]) == ARGV[3] then redis.call('HDEL', job_key(ARGV[1]), 'run:' .. ARGV[2]) end
return 'ok'
