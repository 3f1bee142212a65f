-- Accepts the result of a job, once.
--
-- ARGV[1] request id   ARGV[2] digest of the payload   ARGV[3] the result, JSON
-- ARGV[4] data of the received event, JSON
-- ARGV[5] how many batches came before the final one; "" when the result came
--         in one piece   ARGV[6] data of the final batch's partial event, JSON
-- ARGV[7] the message that tells the chat, behind its id and time, JSON
-- ARGV[8] "1" for the result of a change that was approved and brought out
-- Returns "accepted", "repeated", "conflict", "stale" (batches changed
-- meanwhile), "unknown", or the state that takes no result: a terminal one, or
-- one in which a person was asked.

local j = load_job(ARGV[1])
if not j then return 'unknown' end
if j.state == 'received' then
  return redis.call('HGET', job_key(j.id), 'digest') == ARGV[2] and 'repeated' or 'conflict'
end
if TERMINAL[j.state] or j.checkpoint then return j.state end

-- A change is not received before it was looked at: its result is kept, and
-- what is to be seen of it is captured once the process is gone.
local function submit()
  local f = redis.call('HMGET', job_key(j.id), 'submitted', 'digest')
  if f[1] == '1' then return f[2] == ARGV[2] and 'repeated' or 'conflict' end
  redis.call('HSET', job_key(j.id), 'result', ARGV[3], 'digest', ARGV[2], 'submitted', '1')
  local checks = 2 * 3600 * 1000
  set_deadline(j, 'callback', checks)
  redis.call('HSET', job_key(j.id), 'deadline', num(NOW + checks))
  redis.call('PEXPIRE', P .. ':secret:' .. j.id, num(checks))
  return 'accepted'
end

if ARGV[8] ~= '1' and redis.call('EXISTS', P .. ':secret:' .. j.id) == 0 then return 'expired' end
if ARGV[8] ~= '1' and redis.call('HGET', job_key(j.id), 'change') == '1' then return submit() end
if ARGV[5] ~= '' and redis.call('HLEN', P .. ':batches:' .. j.id) ~= tonumber(ARGV[5]) then return 'stale' end

redis.call('HSET', job_key(j.id), 'result', ARGV[3], 'digest', ARGV[2])
redis.call('HDEL', job_key(j.id), 'error', 'code')
if ARGV[5] ~= '' then
  redis.call('DEL', P .. ':batches:' .. j.id)
  emit(j, 'partial', ARGV[6])
end
if ARGV[7] ~= '' then add_message(j, ARGV[7], 'NEW_MESSAGE', 'processing') end
finish(j, 'received', ARGV[4])
return 'accepted'
