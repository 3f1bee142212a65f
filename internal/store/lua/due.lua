-- Fires the deadlines of a partition that have passed, each once.
--
-- ARGV[1] queue timeout, ms
-- Returns how many milliseconds remain until the next one, -1 when none is set.

local expired = {
  callback = { 'callback_timeout', 'Claude did not respond in time', 'Request timed out. Please try again.' },
  queue = { 'queue_timeout', 'No worker became free in time', 'The server was too busy. Please try again later.' },
  human = { 'human_timeout', 'Nobody answered in time', 'Nobody answered in time. Please start again.' },
}

local function purge(j)
  redis.call('DEL', job_key(j.id), P .. ':batches:' .. j.id)
  for turn = 1, j.turn do redis.call('DEL', P .. ':transcript:' .. j.id .. ':' .. num(turn)) end
  redis.call('ZREM', P .. ':jobs', j.id)
  redis.call('ZREM', P .. ':jobs:' .. j.user, j.id)
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
    enqueue(j)
  end,
}

local deadlines = P .. ':deadlines'
local due = redis.call('ZRANGEBYSCORE', deadlines, '-inf', num(NOW), 'LIMIT', 0, 100)
for _, member in ipairs(due) do
  redis.call('ZREM', deadlines, member)
  local kind, id = string.match(member, '^(%a+)|(.+)$')
  local j = load_job(id)
  if j and fire[kind] then
    fire[kind](j)
  elseif j and not TERMINAL[j.state] then
    fail(j, 'expired', expired[kind][1], expired[kind][2], expired[kind][3])
  end
end

local first = redis.call('ZRANGE', deadlines, 0, 0, 'WITHSCORES')
if not first[2] then return -1 end
return math.max(0, tonumber(first[2]) - NOW)
