-- Claude was given the answer to its question: the same question is a new one
-- from now on.
--
-- ARGV[1] request id   ARGV[2] checkpoint id it asked with

if redis.call('HGET', job_key(ARGV[1]), 'questionId') == ARGV[2] then
  redis.call('HDEL', job_key(ARGV[1]), 'question', 'questionId')
end
return 'ok'
