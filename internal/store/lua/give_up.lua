-- Claude says that it cannot do the job. When another attempt may help, the
-- end of the turn's process leads to it, and only the reason is kept here.
--
-- ARGV[1] request id   ARGV[2] code   ARGV[3] message   ARGV[4] "1": retryable
-- Returns "accepted", "repeated", "unknown", or the state that takes it no more.

local j = load_job(ARGV[1])
if not j then return 'unknown' end
if j.state == 'failed' then
  local f = redis.call('HMGET', job_key(j.id), 'code', 'error')
  if f[1] == ARGV[2] and f[2] == ARGV[3] then return 'repeated' end
end
if TERMINAL[j.state] or j.checkpoint then return j.state end
if redis.call('EXISTS', P .. ':secret:' .. j.id) == 0 then return 'expired' end
if ARGV[4] == '1' and j.owner then
  redis.call('HSET', job_key(j.id), 'gaveUp', ARGV[3], 'gaveUpCode', ARGV[2], 'gaveUpTurn', j.turn)
else
  fail(j, 'failed', ARGV[2], ARGV[3], ARGV[3])
end
return 'accepted'
