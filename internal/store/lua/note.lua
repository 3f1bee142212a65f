-- Adds an entry to a job's audit log.
--
-- ARGV[1] request id   ARGV[2] JSON members

if redis.call('EXISTS', job_key(ARGV[1])) == 1 then add_audit(ARGV[1], ARGV[2]) end
return 'ok'
