-- Sets a running turn's callback clock anew: while the server itself works for
-- the job, or when Claude begins after that.
--
-- ARGV[1] request id   ARGV[2] ms; "" for what the job allows each turn
-- Returns the job's state, "" when it is unknown.

local j = load_job(ARGV[1])
if not j then return '' end
if j.state ~= 'running' then return j.state end
local ms = tonumber(ARGV[2] ~= '' and ARGV[2] or redis.call('HGET', job_key(j.id), 'timeout'))
set_deadline(j, 'callback', ms)
redis.call('HSET', job_key(j.id), 'deadline', num(NOW + ms))
redis.call('PEXPIRE', P .. ':secret:' .. j.id, num(ms))
return j.state
