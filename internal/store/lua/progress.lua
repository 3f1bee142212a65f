-- Stores a progress report and tells the user.
--
-- ARGV[1] request id   ARGV[2] the activity, JSON   ARGV[3] digest of the report
-- Returns "ok", "unknown", or the terminal state.

local j = load_job(ARGV[1])
if not j then return 'unknown' end
if TERMINAL[j.state] then return j.state end
if redis.call('EXISTS', P .. ':secret:' .. j.id) == 0 then return 'expired' end

-- curl repeats a report whose answer it lost: the latest few are known by digest.
local seen = redis.call('HGET', job_key(j.id), 'seen') or ''
if string.find(seen, ARGV[3], 1, true) then return 'ok' end
seen = string.sub(seen .. ARGV[3], -16 * #ARGV[3])
redis.call('HSET', job_key(j.id), 'activity', ARGV[2], 'seen', seen, 'updated', num(NOW))
emit(j, 'activity', ARGV[2])
return 'ok'
