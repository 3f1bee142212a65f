-- Begins the run of an action, once for each approval: what is written here
-- before the action runs is why it never runs twice.
--
-- ARGV[1] request id   ARGV[2] what is to run, with its input   ARGV[3] id of the run
-- ARGV[4] the action's name   ARGV[5] how long it may take, ms
-- ARGV[6] "1" when it needs an approval   ARGV[7] lease, ms
-- ARGV[8] JSON members for the audit log, with a comma before them
-- ARGV[9] the message that shows a call nobody has to allow, behind id and time, JSON
-- Returns {"started", run}, {"known", run} for a run whose end Claude has not
-- heard of, {"unapproved", "none"|"expired"}, or {"unknown"|"expired"|state}.

local j = load_job(ARGV[1])
if not j then return { 'unknown' } end
if TERMINAL[j.state] then return { j.state } end
local known = redis.call('HGET', job_key(j.id), 'run:' .. ARGV[2])
if known then return { 'known', known } end
if j.checkpoint or j.state ~= 'running' then return { j.state } end
if redis.call('EXISTS', P .. ':secret:' .. j.id) == 0 then return { 'expired' } end

local approvals, by, call = P .. ':approvals:' .. j.id, '', ARGV[3]
if ARGV[6] == '1' then
  local approval = redis.call('HGET', approvals, ARGV[2])
  if not approval then return { 'unapproved', 'none' } end
  redis.call('HDEL', approvals, ARGV[2])
  local checkpoint, untl = string.match(approval, '^(.-)|(%d+)$')
  if tonumber(untl) < NOW then
    redis.call('HDEL', job_key(j.id), 'question', 'questionId') -- its yes is worth nothing any more: it is asked anew
    add_audit(j.id, '"event":"refused","detail":"the approval has expired","checkpointId":"' .. checkpoint .. '"' .. ARGV[8])
    return { 'unapproved', 'expired' }
  end
  by = ',"checkpointId":"' .. checkpoint .. '"'
  call = redis.call('HGET', checkpoint_key(checkpoint), 'call') or call
  hand_call(j, call, 'run', ARGV[4])
else
  add_message(j, ARGV[9], 'NEW_MESSAGE', 'processing', 'run')
end

local timeout = tonumber(ARGV[5])
local due = redis.call('ZSCORE', P .. ':deadlines', 'callback|' .. j.id)
local left = due and math.max(0, tonumber(due) - NOW) or 0
redis.call('HSET', P .. ':action:' .. ARGV[3], 'job', j.id, 'name', ARGV[4], 'subject', ARGV[2], 'about', ARGV[8],
  'call', call, 'state', 'running', 'started', num(NOW), 'left', num(left))
redis.call('RPUSH', P .. ':actions:' .. j.id, ARGV[3])
redis.call('HSET', job_key(j.id), 'run:' .. ARGV[2], ARGV[3])
redis.call('ZADD', P .. ':acting', num(NOW + tonumber(ARGV[7])), ARGV[3])
set_deadline(j, 'callback', left + timeout)
redis.call('HSET', job_key(j.id), 'deadline', num(NOW + left + timeout))
redis.call('PEXPIRE', P .. ':secret:' .. j.id, num(left + timeout + 1))
add_audit(j.id, '"event":"started","run":"' .. ARGV[3] .. '"' .. by .. ARGV[8])
return { 'started', ARGV[3] }
