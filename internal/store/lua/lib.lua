-- What changes of a job have in common; in front of their scripts, behind event.lua
-- and what Go hands over of the state machine (transitions.go): TERMINAL,
-- DEFAULT_PHASE and moves().

local clock = redis.call('TIME')
local MICROS = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local NOW = math.floor(MICROS / 1000)

-- RFC 3339 with milliseconds, from milliseconds since 1970 (civil-from-days).
local function rfc3339(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  local z = days + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local day = doy - math.floor((153 * mp + 2) / 5) + 1
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day,
    math.floor(rest / 3600000), math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end

-- The fields that nearly every script needs.
local function load_job(id)
  local f = redis.call('HMGET', job_key(id), 'state', 'user', 'userJSON', 'prefix', 'keep', 'entry', 'priority', 'owner', 'turn',
    'session', 'checkpoint', 'notify', 'simulated', 'phase')
  if not f[1] then return nil end
  return { id = id, state = f[1], user = f[2], userJSON = f[3], prefix = f[4], keep = tonumber(f[5]),
    entry = f[6], priority = f[7], owner = f[8], turn = tonumber(f[9]), session = f[10], checkpoint = f[11], notify = f[12],
    simulated = f[13] == '1', phase = f[14] or DEFAULT_PHASE[f[1]] or '' }
end

-- Appends an event of a job's change.
local function emit(j, what, data)
  append(j.user, j.id, what, '","event":"' .. j.prefix .. ':' .. what .. '","requestId":"' .. j.id ..
    '","userId":' .. j.userJSON .. ',"time":"' .. rfc3339(NOW) .. '","data":' .. data .. (j.simulated and SIMULATED or '') .. '}')
  for _, name in ipairs({ ':events:', ':seq:', ':base:' }) do redis.call('PEXPIRE', P .. name .. j.user, num(j.keep)) end
end

-- Refuses, by an error, a move that job.Transitions does not list; phase '' is
-- none. Returns the name of the move's event, '' where none tells of it. A script
-- that writes something else first asks before that: an error undoes nothing.
local function demand_move(j, state, phase)
  local from = j.state == state and state .. '/' .. j.phase or j.state
  local event = moves()[from .. '>' .. state .. '/' .. phase]
  if not event then error('a job cannot go from "' .. j.state .. '/' .. j.phase .. '" to "' .. state .. '/' .. phase .. '"') end
  return event
end

-- Moves a job without its event, of which it returns the name.
local function enter(j, state, phase)
  local event = demand_move(j, state, phase)
  j.state, j.phase = state, phase
  redis.call('HSET', job_key(j.id), 'state', state, 'phase', phase, 'updated', num(NOW))
  redis.call('HDEL', job_key(j.id), 'phaseUntil')
  return event
end

-- The data of a state's event. members is what else there is to tell: JSON members
-- with a comma before them.
local function state_data(state, phase, members)
  return '{"status":"' .. state .. '"' .. (phase ~= '' and ',"phase":"' .. phase .. '"' or '') .. (members or '') .. '}'
end

-- Moves a job to another state, with its event; data is that of the state unless it
-- is given.
local function become(j, state, phase, data)
  local event = enter(j, state, phase)
  emit(j, event, data or state_data(state, phase))
end

-- Moves a job to another phase of its state, with the state's event. One that it is
-- in already is no change.
local function change_phase(j, phase)
  if j.phase == phase then return end
  local event = enter(j, j.state, phase)
  if event ~= '' then emit(j, event, state_data(j.state, phase)) end
end

local function set_deadline(j, kind, ms)
  redis.call('ZADD', P .. ':deadlines', num(NOW + ms), kind .. '|' .. j.id)
end

-- Stops the clocks; deadline is what the record shows of the running one.
local function stop_clocks(j)
  redis.call('ZREM', P .. ':deadlines', 'queue|' .. j.id, 'callback|' .. j.id, 'human|' .. j.id, 'hold|' .. j.id, 'retry|' .. j.id)
  redis.call('HDEL', job_key(j.id), 'deadline')
end

-- Puts a pending job's next turn into the queue and wakes a worker.
local function enqueue(j)
  change_phase(j, 'queued')
  redis.call('XADD', P .. ':queue:' .. j.priority, '*', 'id', j.id)
  redis.call('PUBLISH', P .. ':wake', j.priority)
end

-- Notes something to be done outside of Redis, at least once.
local function add_task(kind, ref)
  redis.call('ZADD', P .. ':outbox', 'NX', num(NOW), kind .. '|' .. ref)
  redis.call('PUBLISH', P .. ':wake', 'outbox')
end

-- Has the outside world told of something, by each of the job's ways but one.
local function notify(j, ref, not_by)
  for way in string.gmatch(j.notify or '', '%a+') do
    if way ~= not_by then add_task(way, ref) end
  end
end

local function count(what, n) redis.call('HINCRBY', P .. ':stats', what, num(n or 1)) end

local function session_key(name, of) return P .. ':' .. name .. ':' .. #of.user .. ':' .. of.user .. ':' .. of.session end

-- How many messages of a session are kept.
local MESSAGES = 10000

-- Notes that a message of a session has changed.
local function touch_message(j, id)
  local key = session_key('messages', j)
  local text = redis.call('HGET', key, id)
  if text then
    redis.call('HSET', key, id, (string.gsub(text, '^({"id":%d+,"createdAt":"[^"]*","updatedAt":")[^"]*', '%1' .. rfc3339(NOW))))
  end
end

-- Calls of tools. Each call that a job's chat shows gets exactly one end, a
-- tool-result. <P>:calls:<id> holds, by call, "<by>|<messages>|<tool>": the
-- messages that show it, and who ends it:
--   turn    the process that made it, by its output or by being gone
--   person  a decision, or that it is never used
--   run     the run of an action
--   ended   it has its end
local function calls_key(j) return P .. ':calls:' .. j.id end

local function load_call(j, call)
  local by, messages, tool = string.match(redis.call('HGET', calls_key(j), call) or '', '^(%a+)|([%d,]*)|(.*)$')
  return by and { by = by, messages = messages, tool = tool }
end

local function save_call(j, call, by, messages, tool) redis.call('HSET', calls_key(j), call, by .. '|' .. messages .. '|' .. tool) end

-- A message shows a call. The output of a turn may show once more what a person is
-- asked about; only a person, asked again, opens a call that has ended.
local function show_call(j, call, by, message, tool)
  local known = load_call(j, call)
  if known and by == 'turn' then by = known.by end
  save_call(j, call, by, (known and known.messages ~= '' and known.messages .. ',' or '') .. num(message), tool)
end

-- From now on somebody else ends a call.
local function hand_call(j, call, by, tool)
  local known = load_call(j, call)
  save_call(j, call, by, known and known.messages or '', known and known.tool or tool)
end

-- A call has its end. Returns its tool; nil where it has one already.
local function close_call(j, call)
  local known = load_call(j, call)
  if not known or known.by == 'ended' then return nil end
  save_call(j, call, 'ended', '', '')
  for message in string.gmatch(known.messages, '%d+') do touch_message(j, message) end
  return known.tool
end

-- Whether a message tells of nothing but calls that have ended before: the output
-- of a turn is read late, and a person may have decided by then.
local function is_stale(j, line)
  if not line.only then return false end
  for _, call in ipairs(line.calls) do
    local known = load_call(j, call[1])
    if not (known and known.by == 'ended') and (call[2] or known) then return false end
  end
  return true
end

-- Adds a message to a session, with its event. rest is the message's JSON behind
-- id and times; where it has parts of calls, a line stands before it, JSON: calls,
-- a list of [call, tool] or, for a result, [call]; only, whether it says nothing
-- else. by says who ends such a call; "turn" unless it is given.
-- Returns the message's id, nil where it is stale.
local function add_message(j, rest, action, status, by)
  local line = { calls = {} }
  if string.sub(rest, 1, 1) == '{' then
    local line_end = string.find(rest, '\n', 1, true)
    line, rest = cjson.decode(string.sub(rest, 1, line_end - 1)), string.sub(rest, line_end + 1)
  end
  if not by and is_stale(j, line) then return nil end
  for _, call in ipairs(line.calls) do
    if not call[2] then close_call(j, call[1]) end
  end
  local messages, session = session_key('messages', j), session_key('session', j)
  local n = redis.call('HINCRBY', session, 'n', 1)
  for _, call in ipairs(line.calls) do
    if call[2] then show_call(j, call[1], by or 'turn', n, call[2]) end
  end
  local now = rfc3339(NOW)
  local text = '{"id":' .. num(n) .. ',"createdAt":"' .. now .. '","updatedAt":"' .. now .. '",' .. rest
  redis.call('HSET', messages, num(n), text)
  if n > MESSAGES then redis.call('HDEL', messages, num(n - MESSAGES)) end
  redis.call('PEXPIRE', messages, num(j.keep))
  redis.call('PEXPIRE', session, num(j.keep))
  emit(j, 'message', '{"action":"' .. action .. '","status":"' .. status .. '","sessionId":' .. cjson.encode(j.session) ..
    ',"message":' .. text .. '}')
  return n
end

-- Tells the chat in words what became of a job.
local function add_notice(j, text)
  local quoted = cjson.encode(text)
  add_message(j, '"sessionId":' .. cjson.encode(j.session) .. ',"userId":' .. j.userJSON ..
    ',"sender":"assistant","role":"assistant","content":' .. quoted .. ',"parts":[{"type":"text","text":' .. quoted ..
    '}],"messageType":"notice"' .. (j.id ~= '' and ',"requestId":"' .. j.id .. '"' or '') .. '}', 'NEW_MESSAGE', 'processing')
end

-- Ends a call in the chat, unless it has its end already. output is JSON.
local function end_call(j, call, state, output)
  local tool = close_call(j, call)
  if not tool then return end
  add_message(j, '"sessionId":' .. cjson.encode(j.session) .. ',"userId":' .. j.userJSON ..
    ',"sender":"assistant","role":"tool","content":"","parts":[{"type":"tool-result","toolCallId":' .. cjson.encode(call) ..
    ',"toolName":' .. cjson.encode(tool) .. ',"state":"' .. state .. '","output":' .. output ..
    '}],"messageType":"tool","requestId":"' .. j.id .. '"}', 'NEW_MESSAGE', 'processing')
end

-- Ends the calls that wait for one of those in outputs: by whom -> output.
local function end_calls(j, outputs)
  local calls = redis.call('HKEYS', calls_key(j))
  table.sort(calls)
  for _, call in ipairs(calls) do
    local output = outputs[load_call(j, call).by]
    if output then end_call(j, call, 'output-error', '"' .. output .. '"') end
  end
end

-- Gives the worker back: the queue entry is done, the user's next job may go. The
-- process is gone, and with it the calls it was about.
local function release(j)
  end_calls(j, { turn = 'interrupted', person = TERMINAL[j.state] and 'unused' or nil })
  if j.entry and j.entry ~= '' then
    redis.call('XACK', P .. ':queue:' .. j.priority, 'workers', j.entry)
    redis.call('XDEL', P .. ':queue:' .. j.priority, j.entry)
  end
  redis.call('HDEL', job_key(j.id), 'entry', 'owner')
  redis.call('SREM', P .. ':running:' .. j.user, j.id)
  repeat -- one that waits no more must not take the place of one that does
    local waiting = redis.call('ZPOPMIN', P .. ':waiting:' .. j.user)
    local w = waiting[1] and load_job(waiting[1])
    if w and w.state == 'pending' then
      enqueue(w)
      break
    end
  until not waiting[1]
end

-- Adds to a job's audit log. rest is the entry's JSON behind time and request.
local function add_audit(id, rest)
  redis.call('RPUSH', P .. ':audit:' .. id, '{"time":"' .. rfc3339(NOW) .. '","requestId":"' .. id .. '",' .. rest .. '}')
end

local function checkpoint_key(id) return P .. ':checkpoint:' .. id end

-- A checkpoint's hash: head (the JSON of what never changes, without the closing
-- brace), status, type, job ("" for none of ours), user, userJSON, session,
-- prefix, keep, human (ms), created (ms), message (its id), held ("1": the call
-- that asked still waits), answered (ms), reply (JSON), next; subject (what an
-- approval is for), about (the same for the audit log, as JSON members) and call
-- (its id as a tool call in the chat); exchange (what was said since the question
-- was first put, JSON array), round (counts the replies taken to be read) and
-- reader (the job that reads the latest of them).
local function load_checkpoint(id)
  local f = redis.call('HMGET', checkpoint_key(id), 'status', 'job', 'user', 'userJSON', 'session', 'prefix', 'keep', 'type',
    'created', 'held', 'head', 'message', 'human', 'subject', 'about', 'call', 'round', 'reader')
  if not f[1] then return nil end
  return { id = id, status = f[1], job = f[2], user = f[3], userJSON = f[4], session = f[5], prefix = f[6], keep = tonumber(f[7]),
    type = f[8], created = tonumber(f[9]), held = f[10], head = f[11], message = f[12], human = tonumber(f[13]),
    subject = f[14] or '', about = f[15] or '', call = f[16] or '', round = f[17] or '0', reader = f[18] }
end

local function waits(c) return c.status == 'open' or c.status == 'reading' end

local function checkpoint_json(c)
  local f = redis.call('HMGET', checkpoint_key(c.id), 'status', 'held', 'answered', 'reply', 'next', 'exchange')
  return c.head .. ',"status":"' .. f[1] .. '","messageId":' .. c.message .. ',"createdAt":"' .. rfc3339(c.created) .. '"' ..
    (c.call ~= '' and ',"toolCallId":' .. cjson.encode(c.call) or '') .. (f[6] and f[6] ~= '' and ',"exchange":' .. f[6] or '') ..
    (f[2] == '1' and ',"held":true' or '') .. (f[3] and ',"answeredAt":"' .. rfc3339(tonumber(f[3])) .. '"' or '') ..
    (f[4] and f[4] ~= '' and ',"reply":' .. f[4] or '') .. (f[5] and ',"next":"' .. f[5] .. '"' or '') .. '}'
end

-- Puts a checkpoint into the chat. j is its job, or stands in for one. Nobody
-- outside is told of one that is unasked: its answer is there already.
local function open_checkpoint(j, c)
  local message = add_message(j, c.rest, 'HITL_CHECKPOINT', 'awaiting_human', 'person')
  redis.call('HSET', checkpoint_key(c.id), 'head', c.head, 'status', 'open', 'type', c.type, 'job', j.id, 'user', j.user,
    'userJSON', j.userJSON, 'session', j.session, 'prefix', j.prefix, 'keep', num(j.keep), 'human', num(c.human),
    'created', num(NOW), 'message', num(message), 'held', c.held)
  if c.exchange and c.exchange ~= '' then redis.call('HSET', checkpoint_key(c.id), 'exchange', c.exchange) end
  if c.subject ~= '' then redis.call('HSET', checkpoint_key(c.id), 'subject', c.subject, 'about', c.about, 'call', c.call) end
  for _, name in ipairs({ ':checkpoints', ':checkpoints:' .. j.user, ':open', ':open:' .. j.user }) do
    redis.call('ZADD', P .. name, num(NOW), c.id)
  end
  redis.call('ZADD', P .. ':ids', 0, c.id)
  redis.call('ZADD', session_key('asking', j), num(message), c.id)
  redis.call('PEXPIRE', session_key('asking', j), num(j.keep))
  if j.id ~= '' then
    redis.call('RPUSH', P .. ':asked:' .. j.id, c.id)
    add_audit(j.id, '"event":"asked","checkpointId":"' .. c.id .. '","type":"' .. c.type .. '"' .. c.about)
  end
  -- A channel of many is told of a question once: asking back is between two.
  if not c.unasked then notify(j, 'opened|' .. c.id, c.again and 'slack') end
  count(c.type .. ':opened')
  c.message, c.created = num(message), NOW
  emit(j, 'checkpoint', checkpoint_json(c))
end

local finish

-- Ends the job that reads the reply to a checkpoint: what it would make of it
-- counts no more.
local function withdraw_reader(c)
  local r = c.reader and load_job(c.reader)
  if not r or TERMINAL[r.state] then return end
  redis.call('HSET', job_key(r.id), 'error', 'The person has replied again', 'code', 'cancelled')
  finish(r, 'cancelled')
end

-- A checkpoint no longer waits for a reply.
local function settle_checkpoint(c)
  withdraw_reader(c)
  redis.call('ZREM', P .. ':open', c.id)
  redis.call('ZREM', P .. ':open:' .. c.user, c.id)
  redis.call('ZREM', session_key('asking', c), c.id)
  redis.call('ZREM', P .. ':deadlines', 'lapse|' .. c.id)
  if c.job == '' then redis.call('ZADD', P .. ':deadlines', num(NOW + c.keep), 'forget|' .. c.id) end
end

-- Closes a checkpoint for good, with its event.
local function close_checkpoint(j, c, status, reply, nxt)
  settle_checkpoint(c)
  redis.call('HSET', checkpoint_key(c.id), 'status', status, 'answered', num(NOW))
  if reply and reply ~= '' then redis.call('HSET', checkpoint_key(c.id), 'reply', reply) end
  if nxt then redis.call('HSET', checkpoint_key(c.id), 'next', nxt) end
  touch_message(j, c.message)
  count(c.type .. ':' .. status)
  if status == 'answered' then
    count(c.type .. ':ms', NOW - c.created)
    if c.held == '1' then count(c.type .. ':held') end
  end
  emit(j, 'checkpoint:resolved', checkpoint_json(c))
end

-- The call that asked no longer waits: the reply will start another turn.
local function unhold(j)
  redis.call('ZREM', P .. ':deadlines', 'hold|' .. j.id)
  if j.checkpoint then redis.call('HSET', checkpoint_key(j.checkpoint), 'held', '0') end
  if j.phase == 'held' then change_phase(j, '') end
end

-- Rings Claude as soon as no process of the job is left.
local function ring(j)
  set_deadline(j, 'queue', tonumber(redis.call('HGET', job_key(j.id), 'human')))
  if j.owner then redis.call('HSET', job_key(j.id), 'again', '1') else enqueue(j) end
end

-- Adds what a person decided about a job to its audit log. about is what else
-- there is to tell: JSON members with a comma before them.
local function audit_reply(j, c, event, by, about)
  if j.id == '' then return end
  add_audit(j.id, '"event":"' .. event .. '","checkpointId":"' .. c.id .. '","type":"' .. c.type .. '"' .. c.about ..
    ',"by":' .. by .. about)
end

-- A job waits at its checkpoint no longer: the answer is kept for its next turns.
local function keep_answer(j, c, decision)
  j.checkpoint = nil
  redis.call('HDEL', job_key(j.id), 'checkpoint')
  local answers = redis.call('HGET', job_key(j.id), 'answers') or ''
  redis.call('HSET', job_key(j.id), 'answers', answers .. (answers ~= '' and ',' or '') .. checkpoint_json(c))
  if c.type == 'review' then
    redis.call('HSET', job_key(j.id), 'reviewed', decision)
    if decision == 'steer' then redis.call('HINCRBY', job_key(j.id), 'steered', 1) end
  end
end

-- Goes on with a job in another turn, which is told note.
local function continue_job(j, note)
  redis.call('HSET', job_key(j.id), 'note', note)
  become(j, 'pending', j.owner and 'waiting_for_exit' or 'queued')
  ring(j)
end

-- Lets a job go on in the conversation of another.
local function inherit(from, id)
  local f = redis.call('HMGET', job_key(from), 'root', 'conversation', 'begun', 'cost', 'costBefore', 'answers', 'simulated')
  -- The CLI counts the cost of the whole conversation: what it cost so far is not this job's.
  local paid = tonumber(f[4] or 0) - tonumber(f[5] or 0)
  redis.call('HSET', job_key(id), 'root', f[1] or from, 'conversation', f[2] or '1', 'begun', f[3] or '0',
    'costBefore', tostring(-paid), 'answers', f[6] or '')
  -- What the stand-in has begun, nobody else can go on with.
  if f[3] == '1' and f[7] then redis.call('HSET', job_key(id), 'simulated', f[7]) end
end

-- After release: rings Claude where a reply came while the process was ending.
local function ring_again(j)
  if redis.call('HDEL', job_key(j.id), 'again') == 1 and j.state == 'pending' then enqueue(j) end
  local follower = redis.call('HGET', job_key(j.id), 'follower')
  if follower then
    redis.call('HDEL', job_key(j.id), 'follower')
    local f = load_job(follower)
    if f and f.state == 'pending' then
      inherit(j.id, f.id) -- once more, for only now is it known how the conversation stands
      enqueue(f)
    end
  end
end

-- Ends a job for good (until a person asks for a retry). The worker, if any,
-- is given back when its process is gone.
function finish(j, state, data)
  demand_move(j, state, '')
  stop_clocks(j)
  redis.call('DEL', P .. ':secret:' .. j.id)
  redis.call('ZREM', P .. ':waiting:' .. j.user, j.id)
  if j.checkpoint then
    local c = load_checkpoint(j.checkpoint)
    if c and waits(c) then
      add_audit(j.id, '"event":"' .. (state == 'expired' and 'expired' or 'withdrawn') .. '","checkpointId":"' .. c.id .. '","type":"' ..
        c.type .. '"' .. c.about)
      close_checkpoint(j, c, state == 'expired' and 'expired' or 'cancelled')
    end
  end
  -- After a result, a process that is still there says itself how its calls ended.
  local output = state == 'received' and 'unused' or state
  if state ~= 'received' or not j.owner then end_calls(j, { turn = output, person = output }) end
  local standing = P .. ':standing-of:' .. j.id
  for _, id in ipairs(redis.call('SMEMBERS', standing)) do redis.call('HDEL', P .. ':standing:' .. j.user, id) end
  redis.call('DEL', standing)
  redis.call('HDEL', job_key(j.id), 'checkpoint', 'note', 'again')
  redis.call('HSET', job_key(j.id), 'finished', num(NOW))
  set_deadline(j, 'purge', j.keep)
  become(j, state, '', data)
  notify(j, 'ended|' .. j.id .. '|' .. num(j.turn))
  if redis.call('HEXISTS', job_key(j.id), 'reads') == 1 then add_task('read', j.id) end
  if state == 'received' and redis.call('LLEN', P .. ':told:' .. j.id) > tonumber(redis.call('HGET', job_key(j.id), 'told') or 0) then
    add_task('continue', j.id)
  end
end

local function fail(j, state, code, message, said)
  demand_move(j, state, '')
  redis.call('HSET', job_key(j.id), 'error', message, 'code', code)
  add_notice(j, said)
  finish(j, state, '{"suggestionId":"' .. j.id .. '","error":' .. cjson.encode(said) .. ',"errorCode":"' .. code .. '"}')
end

-- What the state of a turn tells beside its name when one before it failed: how many
-- in a row did, and how the last one ended. JSON members with a comma before them.
local function failure_members(j, state)
  local f = redis.call('HMGET', job_key(j.id), 'attempt', 'attempts', 'lastFailure', 'turn')
  if not f[3] or cjson.decode(f[3]).turn < tonumber(f[4]) - (state == 'running' and 1 or 0) then return '' end
  return ',"turn":' .. f[4] .. ',"attempt":' .. (f[1] or '0') .. ',"maxAttempts":' .. f[2] .. ',"lastFailure":' .. f[3]
end

-- Notes how a turn failed, for whoever looks while the job is tried again.
local function note_failure(j, code, message)
  redis.call('HSET', job_key(j.id), 'lastFailure', '{"turn":' .. num(j.turn) .. ',"errorCode":' .. cjson.encode(code) ..
    ',"error":' .. cjson.encode(message) .. ',"time":"' .. rfc3339(NOW) .. '"}')
end

-- A turn failed and is to be tried again, after a delay in ms. Until then the job is
-- queued, but not in a queue.
local function start_over(j, code, message, delay)
  note_failure(j, code, message)
  stop_clocks(j)
  local untl = delay > 0 and ',"phaseUntil":"' .. rfc3339(NOW + delay) .. '"' or ''
  become(j, 'pending', 'queued', state_data('pending', 'queued', untl .. failure_members(j, 'pending')))
  if delay > 0 then redis.call('HSET', job_key(j.id), 'phaseUntil', num(NOW + delay)) end
  set_deadline(j, 'retry', delay)
end

-- Books the end of an action's run: success, error or unknown. The callback
-- clock, which stood still for it, runs on.
local function end_action(run, state, result)
  local key = P .. ':action:' .. run
  redis.call('ZREM', P .. ':acting', run)
  local f = redis.call('HMGET', key, 'state', 'job', 'about', 'left', 'name', 'call')
  if f[1] ~= 'running' then return f[1] or '' end
  redis.call('HSET', key, 'state', state, 'result', result)
  add_audit(f[2], '"event":"finished","outcome":"' .. state .. '","run":"' .. run .. '"' .. f[3])
  local j = load_job(f[2])
  if not j then return state end
  end_call(j, f[6], state == 'success' and 'output-available' or 'output-error', result ~= '' and result or '"unknown"')
  if j.state ~= 'running' then return state end
  if state == 'unknown' then
    add_notice(j, 'The server was interrupted while "' .. f[5] .. '" was running. Whether it took effect is not known.')
  end
  local left = math.max(tonumber(f[4]), 1000)
  set_deadline(j, 'callback', left)
  redis.call('HSET', job_key(j.id), 'deadline', num(NOW + left))
  redis.call('PEXPIRE', P .. ':secret:' .. j.id, num(left + 1))
  return state
end
