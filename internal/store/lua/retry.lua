-- Starts an expired, failed or cancelled job again, in the same conversation.
--
-- ARGV[1] request id   ARGV[2] note for the next turn, JSON
-- Returns {"ok"}, {"unknown"}, {state} in which a retry does not apply, or
-- {"continued", id} where that job goes on with the conversation at this moment.

local j = load_job(ARGV[1])
if not j then return { 'unknown' } end
if not TERMINAL[j.state] or not moves()[j.state .. '>pending/queued'] then return { j.state } end

-- Only one process at a time can go on with a conversation.
local function root(id) return redis.call('HGET', job_key(id), 'root') or id end
local session = session_key('session', j)
local latest = redis.call('HGET', session, 'job')
local other = latest and latest ~= j.id and load_job(latest)
if other and not TERMINAL[other.state] and root(other.id) == root(j.id) then return { 'continued', other.id } end

redis.call('ZREM', P .. ':deadlines', 'purge|' .. j.id)
local f = redis.call('HMGET', job_key(j.id), 'code', 'error')
note_failure(j, f[1] or '', f[2] or '')
redis.call('HDEL', job_key(j.id), 'error', 'code', 'finished', 'seen')
redis.call('HSET', job_key(j.id), 'attempt', '0', 'note', ARGV[2])
local phase = j.owner and 'waiting_for_exit' or 'queued' -- its last process may still be ending
become(j, 'pending', phase, state_data('pending', phase, failure_members(j, 'pending')))
ring(j)
redis.call('HSET', session, 'job', j.id) -- what its user writes now is for this job
redis.call('PEXPIRE', session, num(j.keep))
return { 'ok' }
