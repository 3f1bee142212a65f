-- A person's reply to a checkpoint.
--
-- ARGV[1] checkpoint id
-- ARGV[2] what becomes of it: "answered"; "clarified": it was not understood, and
--         another checkpoint asks again; "reading": Claude is asked what it means
-- ARGV[3] the status and ARGV[19] the round it must be in: those against which
--         the reply was understood
-- ARGV[4] the reply, JSON without the closing brace; "" for none
-- ARGV[5] the person's message behind id and time, JSON; "" when it was added before
-- ARGV[6] "" to go on with the job, or the state that ends it
-- ARGV[7] code and ARGV[8] message of that end
-- ARGV[9] id, ARGV[10] head and ARGV[11] message of the checkpoint that asks again
-- ARGV[12] note for the next turn, JSON   ARGV[13] the decision, "" for none
-- ARGV[14] who decided, JSON   ARGV[15] how long an approval may be used, ms
-- ARGV[16] how far an approval goes: "once", "job" or "always"
-- ARGV[17] id and ARGV[18] JSON of the approval where it goes further than once
-- ARGV[20] what was said since the question was first put, JSON array; "" where
--          nothing is to be kept of it
-- ARGV[21] JSON members for the audit log, with a comma before them
-- Returns {"ok", message id}, {"unknown"}, or {"closed", status} where something
-- else came first.

local c = load_checkpoint(ARGV[1])
if not c then return { 'unknown' } end
if c.status ~= ARGV[3] or c.round ~= ARGV[19] then return { 'closed', c.status } end
local j = c.job ~= '' and load_job(c.job)
  or { id = '', user = c.user, userJSON = c.userJSON, session = c.session, prefix = c.prefix, keep = c.keep }

-- Where an answer leads the job. A held call goes on in its turn.
local function destination()
  if ARGV[6] ~= '' then return ARGV[6], '' end
  if c.held == '1' then return 'running', 'claude' end
  return 'pending', j.owner and 'waiting_for_exit' or 'queued'
end
if ARGV[2] == 'answered' and j.id ~= '' then demand_move(j, destination()) end

local message = redis.call('HGET', checkpoint_key(c.id), 'replyMessage') or '0'
if ARGV[5] ~= '' then message = num(add_message(j, ARGV[5], 'NEW_MESSAGE', 'processing')) end
local reply = ARGV[4] ~= '' and ARGV[4] .. (ARGV[4] == '{' and '' or ',') .. '"messageId":' .. message .. '}' or ''

local function audit(event)
  audit_reply(j, c, event, ARGV[14], (ARGV[16] ~= '' and ',"scope":"' .. ARGV[16] .. '"' or '') .. ARGV[21])
end

-- Takes back an earlier decision on the same, which nobody has used: this one
-- stands in its place.
local function supersede()
  local before = redis.call('HGET', P .. ':approvals:' .. j.id, c.subject)
  redis.call('HDEL', P .. ':approvals:' .. j.id, c.subject)
  local earlier = before and load_checkpoint(string.match(before, '^(.-)|'))
  if earlier and earlier.call ~= '' and earlier.call ~= c.call then end_call(j, earlier.call, 'output-error', '"superseded"') end
end

-- Records a yes, for exactly what was asked.
local function approve()
  if c.subject == '' or j.id == '' then return end
  supersede()
  local valid = tonumber(ARGV[15])
  redis.call('HSET', P .. ':approvals:' .. j.id, c.subject, c.id .. '|' .. num(NOW + valid))
  redis.call('ZADD', P .. ':deadlines', num(NOW + valid + 1), 'approval|' .. c.id)
  if ARGV[17] == '' then return end
  -- An approval that goes on standing; one for this job only goes with it.
  redis.call('HSET', P .. ':standing:' .. j.user, ARGV[17], (string.gsub(ARGV[18], '"createdAt":"[^"]*"', '"createdAt":"' .. rfc3339(NOW) .. '"')))
  if ARGV[16] == 'job' then redis.call('SADD', P .. ':standing-of:' .. j.id, ARGV[17]) end
end

-- A no, or the wish for something else. What was allowed before and is not used
-- yet is allowed no longer; a no to a tool call is kept until the call is told.
local function deny()
  if c.subject == '' or j.id == '' then return end
  supersede()
  if c.call ~= '' then end_call(j, c.call, 'output-denied', '"denied"') end
  if c.type == 'tool_approval' then redis.call('HSET', P .. ':approvals:' .. j.id, c.subject, c.id .. '|0|no') end
end

local function human_clock()
  if j.id == '' then
    redis.call('ZADD', P .. ':deadlines', num(NOW + c.human), 'lapse|' .. c.id)
  else
    set_deadline(j, 'human', c.human)
    redis.call('HSET', job_key(j.id), 'deadline', num(NOW + c.human), 'updated', num(NOW))
  end
end

-- A further reply supersedes the reading of those before it: what that would
-- find is of a round that is over. The session goes on asking meanwhile.
if ARGV[2] == 'reading' then
  withdraw_reader(c)
  local round = num(tonumber(c.round) + 1)
  redis.call('HSET', checkpoint_key(c.id), 'status', 'reading', 'replyMessage', message, 'reply', reply, 'round', round, 'exchange', ARGV[20])
  redis.call('HDEL', checkpoint_key(c.id), 'reader')
  redis.call('ZREM', P .. ':open', c.id)
  redis.call('ZREM', P .. ':open:' .. c.user, c.id)
  human_clock()
  add_task('understand', c.id .. '|' .. round)
  return { 'ok', message }
end

if ARGV[2] == 'clarified' then
  close_checkpoint(j, c, 'clarified', reply, ARGV[9])
  local again = { id = ARGV[9], type = c.type, head = ARGV[10], rest = ARGV[11], human = c.human, held = c.held,
    subject = c.subject, about = c.about, call = c.call, exchange = ARGV[20], again = true }
  audit('unclear')
  open_checkpoint(j, again)
  redis.call('HSET', checkpoint_key(c.id), 'held', '0')
  if j.id ~= '' then redis.call('HSET', job_key(j.id), 'checkpoint', again.id) end
  c.id = again.id
  human_clock()
  return { 'ok', message }
end

close_checkpoint(j, c, 'answered', reply)
if ARGV[13] ~= '' then count(c.type .. ':' .. ARGV[13]) end
audit(ARGV[13] ~= '' and ARGV[13] or 'answered')
if ARGV[13] == 'approve' then approve() elseif ARGV[13] == 'deny' or ARGV[13] == 'steer' and c.type ~= 'review' then deny() end
if j.id == '' then
  add_task('resume', c.id)
  return { 'ok', message }
end
stop_clocks(j)
keep_answer(j, c, ARGV[13])
if ARGV[6] ~= '' then
  redis.call('HSET', job_key(j.id), 'error', ARGV[8], 'code', ARGV[7])
  add_notice(j, ARGV[8])
  finish(j, ARGV[6])
elseif c.held == '1' then
  -- The turn that asked goes on, and its clock where it stood.
  local left = tonumber(redis.call('HGET', job_key(j.id), 'left'))
  set_deadline(j, 'callback', left)
  redis.call('HSET', job_key(j.id), 'deadline', num(NOW + left))
  redis.call('PEXPIRE', P .. ':secret:' .. j.id, num(left + 1))
  become(j, 'running', 'claude')
else
  continue_job(j, ARGV[12])
end
return { 'ok', message }
