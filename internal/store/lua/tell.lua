-- A message of a session that is no reply: the session's latest job is told.
--
-- ARGV[1] user   ARGV[2] the same as JSON   ARGV[3] session
-- ARGV[4] the message behind id and time, JSON   ARGV[5] retention, ms
-- ARGV[6] "1" when a person wrote it, so that Claude is to be told
-- ARGV[7] event prefix where no job of ours is in the session   ARGV[8] human timeout, ms
-- Returns {"told"|"continues"|"stored", message id, request id or ""}.

local stand_in = { id = '', user = ARGV[1], userJSON = ARGV[2], session = ARGV[3], keep = tonumber(ARGV[5]), prefix = ARGV[7] }
local latest = redis.call('HGET', session_key('session', stand_in), 'job')
local j = latest and load_job(latest)
local message = num(add_message(j or stand_in, ARGV[4], 'NEW_MESSAGE', 'processing'))
if ARGV[6] ~= '1' then return { 'stored', message, '' } end
if not j then
  return { 'stored', message, '' }
end

redis.call('RPUSH', P .. ':told:' .. j.id, message)
redis.call('PEXPIRE', P .. ':told:' .. j.id, num(j.keep))
if not TERMINAL[j.state] then
  if j.checkpoint then -- it was asked, and writes on: the human clock begins anew
    set_deadline(j, 'human', tonumber(ARGV[8]))
    redis.call('HSET', job_key(j.id), 'deadline', num(NOW + tonumber(ARGV[8])))
  end
  return { 'told', message, j.id }
end
add_task('continue', j.id)
return { 'continues', message, j.id }
