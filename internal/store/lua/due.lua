-- Fires the deadlines of a partition that have passed, each once.
--
-- ARGV[1] queue timeout, ms
-- Returns how many milliseconds remain until the next one, -1 when none is set.

local expired = {
  callback = { 'callback_timeout', 'Claude did not respond in time', 'Request timed out. Please try again.' },
  queue = { 'queue_timeout', 'No worker became free in time', 'The server was too busy. Please try again later.' },
  human = { 'human_timeout', 'Nobody answered in time', 'Nobody answered in time. Please start again.' },
}

local function forget_checkpoint(id, user)
  redis.call('DEL', checkpoint_key(id))
  redis.call('ZREM', P .. ':checkpoints', id)
  redis.call('ZREM', P .. ':checkpoints:' .. user, id)
  redis.call('ZREM', P .. ':ids', id)
end

local function purge(j)
  redis.call('DEL', job_key(j.id), P .. ':batches:' .. j.id, P .. ':told:' .. j.id,
    P .. ':audit:' .. j.id, P .. ':approvals:' .. j.id, P .. ':change:' .. j.id, P .. ':steers:' .. j.id, calls_key(j))
  for _, run in ipairs(redis.call('LRANGE', P .. ':actions:' .. j.id, 0, -1)) do redis.call('DEL', P .. ':action:' .. run) end
  redis.call('DEL', P .. ':actions:' .. j.id)
  for _, id in ipairs(redis.call('LRANGE', P .. ':asked:' .. j.id, 0, -1)) do forget_checkpoint(id, j.user) end
  redis.call('DEL', P .. ':asked:' .. j.id)
  for turn = 1, j.turn do
    redis.call('DEL', P .. ':transcript:' .. j.id .. ':' .. num(turn), P .. ':stderr:' .. j.id .. ':' .. num(turn))
  end
  redis.call('ZREM', P .. ':jobs', j.id)
  redis.call('ZREM', P .. ':jobs:' .. j.user, j.id)
  redis.call('ZREM', P .. ':ids', j.id)
end

local function forget_key(j)
  local idem = redis.call('HGET', job_key(j.id), 'idempotency')
  if idem then redis.call('HDEL', P .. ':idempotency:' .. j.user, idem) end
end

local fire = {
  purge = function(j)
    if not TERMINAL[j.state] then return end
    forget_key(j)
    purge(j)
  end,
  retry = function(j)
    if j.state ~= 'pending' then return end
    set_deadline(j, 'queue', tonumber(ARGV[1]))
    redis.call('HDEL', job_key(j.id), 'phaseUntil')
    enqueue(j)
  end,
}

-- The call that asked has waited long enough, and whoever answered it is gone.
fire.hold = unhold

-- Deadlines of checkpoints that no job of ours raised.
local fire_checkpoint = {
  lapse = function(c)
    if not waits(c) then return end
    local stand_in = { id = '', user = c.user, userJSON = c.userJSON, session = c.session, prefix = c.prefix, keep = c.keep }
    add_notice(stand_in, expired.human[3])
    close_checkpoint(stand_in, c, 'expired')
  end,
  forget = function(c) forget_checkpoint(c.id, c.user) end,
  -- Whoever tries to use the approval now is refused.
  approval = function(c)
    local j, decision = load_job(c.job), redis.call('HGET', P .. ':approvals:' .. c.job, c.subject)
    if j and c.call ~= '' and decision and string.match(decision, '^(.-)|') == c.id then end_call(j, c.call, 'output-error', '"expired"') end
  end,
}

local deadlines = P .. ':deadlines'
local due = redis.call('ZRANGEBYSCORE', deadlines, '-inf', num(NOW), 'LIMIT', 0, 100)
for _, member in ipairs(due) do
  redis.call('ZREM', deadlines, member)
  local kind, id = string.match(member, '^(%a+)|(.+)$')
  local c = fire_checkpoint[kind] and load_checkpoint(id)
  local j = not c and load_job(id)
  if c then
    fire_checkpoint[kind](c)
  elseif j and fire[kind] then
    fire[kind](j)
  elseif j and not TERMINAL[j.state] then
    fail(j, 'expired', expired[kind][1], expired[kind][2], expired[kind][3])
  end
end

-- Actions whose server is gone: nobody knows whether they took effect.
for _, run in ipairs(redis.call('ZRANGEBYSCORE', P .. ':acting', '-inf', num(NOW), 'LIMIT', 0, 100)) do
  end_action(run, 'unknown', '')
end

local first = redis.call('ZRANGE', deadlines, 0, 0, 'WITHSCORES')
if not first[2] then return -1 end
return math.max(0, tonumber(first[2]) - NOW)
