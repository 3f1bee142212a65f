-- Puts a checkpoint to a person. A job of ours stops at it: its callback clock
-- stands still and the human clock runs.
--
-- ARGV[1] checkpoint id  ARGV[2] type   ARGV[3] its head, JSON without the closing brace
-- ARGV[4] its message behind id and time, JSON   ARGV[5] human timeout, ms
-- ARGV[6] request id, "" for none of ours
--   of ours:      ARGV[7] state to wait in   ARGV[8] digest of the question
--                 ARGV[9] how long the call waits for the reply, ms
--   none of ours: ARGV[7] user   ARGV[8] the same as JSON   ARGV[9] session
--                 ARGV[10] event prefix   ARGV[11] retention, ms
-- ARGV[12] what an approval would be for, "" for nothing
-- ARGV[13] the same for the audit log: JSON members with a comma before them
-- ARGV[14] its id as a tool call in the chat, "" for none
-- ARGV[15] how often the job's change may be steered, "" when it is no review:
--          a steer that came while the turn ran answers the review at once
-- ARGV[16] note for the turn that this starts, JSON
-- Returns {"asked"|"repeated"|"busy", checkpoint id, message id}, {"unknown"},
-- {"expired"}, or {state} where the job's state does not allow a question.

local c = { id = ARGV[1], type = ARGV[2], head = ARGV[3], rest = ARGV[4], human = tonumber(ARGV[5]), held = '0',
  subject = ARGV[12], about = ARGV[13], call = ARGV[14] }

if ARGV[6] == '' then
  local stand_in = { id = '', user = ARGV[7], userJSON = ARGV[8], session = ARGV[9], prefix = ARGV[10], keep = tonumber(ARGV[11]) }
  open_checkpoint(stand_in, c)
  redis.call('ZADD', P .. ':deadlines', num(NOW + c.human), 'lapse|' .. c.id)
  return { 'asked', c.id, c.message }
end

local j = load_job(ARGV[6])
if not j then return { 'unknown' } end
if TERMINAL[j.state] then return { j.state } end

-- curl repeats a call whose answer it lost.
local f = redis.call('HMGET', job_key(j.id), 'question', 'questionId', 'timeout')
if f[1] == ARGV[8] then
  local before = load_checkpoint(f[2])
  return { 'repeated', f[2], before and before.message or '0' }
end
if j.checkpoint then return { 'busy', j.checkpoint } end
if j.state ~= 'running' then return { j.state } end
local secret = P .. ':secret:' .. j.id
if redis.call('EXISTS', secret) == 0 then return { 'expired' } end

-- Takes the oldest steer that waits.
local function next_steer()
  local done = tonumber(redis.call('HGET', job_key(j.id), 'steered') or 0)
  if ARGV[15] == '' or done >= tonumber(ARGV[15]) then return nil end
  local text = redis.call('LPOP', P .. ':steers:' .. j.id)
  return text and cjson.decode(text)
end

-- Opening the review, taking the steer and starting its round are one step: a
-- steer is neither lost nor done twice, whoever dies.
local steer = next_steer()
if steer then
  c.unasked = true
  stop_clocks(j)
  redis.call('HSET', job_key(j.id), 'question', ARGV[8], 'questionId', c.id, 'attempt', '0')
  open_checkpoint(j, c)
  c = load_checkpoint(c.id)
  close_checkpoint(j, c, 'answered', steer.reply .. ',"messageId":' .. steer.message .. '}')
  count('review:steer')
  audit_reply(j, c, 'steer', steer.by, steer.audit)
  keep_answer(j, c, 'steer')
  continue_job(j, ARGV[16])
  return { 'asked', c.id, c.message }
end

local hold = tonumber(ARGV[9])
local due = redis.call('ZSCORE', P .. ':deadlines', 'callback|' .. j.id)
local left = due and math.max(0, tonumber(due) - NOW) or tonumber(f[3])
stop_clocks(j)
set_deadline(j, 'human', c.human)
if hold > 0 then
  c.held = '1'
  set_deadline(j, 'hold', hold)
end
redis.call('PEXPIRE', secret, num(tonumber(f[3]) + hold))
enter(j, ARGV[7], hold > 0 and 'held' or '') -- its event is the checkpoint's
redis.call('HSET', job_key(j.id), 'checkpoint', c.id, 'question', ARGV[8], 'questionId', c.id,
  'left', num(left), 'deadline', num(NOW + c.human), 'attempt', '0')
open_checkpoint(j, c)
return { 'asked', c.id, c.message }
