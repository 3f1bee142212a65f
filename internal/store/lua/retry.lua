-- Starts an expired, failed or cancelled job again, in the same conversation.
--
-- ARGV[1] request id   ARGV[2] queue timeout, ms   ARGV[3] note for the next turn, JSON
-- Returns "ok", "unknown", or the state in which a retry does not apply.

local j = load_job(ARGV[1])
if not j then return 'unknown' end
if j.state ~= 'expired' and j.state ~= 'failed' and j.state ~= 'cancelled' then return j.state end
if j.owner then release(j) end -- its last process is still ending
redis.call('ZREM', P .. ':deadlines', 'purge|' .. j.id)
local f = redis.call('HMGET', job_key(j.id), 'code', 'error')
note_failure(j, f[1] or '', f[2] or '')
redis.call('HDEL', job_key(j.id), 'error', 'code', 'finished', 'seen')
redis.call('HSET', job_key(j.id), 'attempt', '0', 'note', ARGV[3])
set_deadline(j, 'queue', tonumber(ARGV[2]))
j.state = 'pending'
become(j, 'pending', 'pending', turn_data(j))
enqueue(j)
return 'ok'
