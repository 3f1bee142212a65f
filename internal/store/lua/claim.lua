-- Takes the next pending job of a partition for a node and makes it running.
--
-- ARGV[1] node            ARGV[2] most jobs of one user at once
-- ARGV[3] first priority  ARGV[4] second priority
-- ARGV[5] new secret, used where the job's own has run out
-- ARGV[6] "1": this node has no CLI and runs the stand-in
-- Returns {id, secret, number of messages, message…, field, value, …}, or {}
-- when nothing waits. The messages are what the user wrote since the last turn.

-- Interactive jobs wait before batch ones, each in the order of their asking.
local function waiting_score(priority, entry)
  local ms, seq = string.match(entry, '^(%d+)-(%d+)$')
  return num(tonumber(ms) * 1000 + math.min(tonumber(seq), 999) + (priority == 'batch' and 4e15 or 0))
end

-- Jobs that were cancelled or are over their user's limit are passed over, and those
-- of which a process is still there: its end enqueues them anew.
local function startable(id, priority, entry)
  local j = load_job(id)
  local waits = j and j.state == 'pending' and j.phase ~= 'waiting_for_exit'
  local over = waits and redis.call('SCARD', P .. ':running:' .. j.user) >= tonumber(ARGV[2])
  if waits and not over then return j end
  redis.call('XACK', P .. ':queue:' .. priority, 'workers', entry)
  redis.call('XDEL', P .. ':queue:' .. priority, entry)
  if over then
    redis.call('ZADD', P .. ':waiting:' .. j.user, waiting_score(priority, entry), id)
    change_phase(j, 'waiting_for_limit')
  end
  return nil
end

local function take(priority)
  while true do
    local read = redis.call('XREADGROUP', 'GROUP', 'workers', ARGV[1], 'COUNT', '1', 'STREAMS', P .. ':queue:' .. priority, '>')
    if not read or not read[1] or not read[1][2][1] then return nil end
    local entry, fields = read[1][2][1][1], read[1][2][1][2]
    local j = startable(fields[2], priority, entry)
    if j then return j, entry end
  end
end

local function arm_secret(j, timeout)
  local key = P .. ':secret:' .. j.id
  if redis.call('EXISTS', key) == 0 then
    redis.call('HSET', key, 'secret', ARGV[5], 'userId', j.user, 'createdAt', num(NOW))
  end
  redis.call('PEXPIRE', key, timeout)
  return redis.call('HGET', key, 'secret')
end

local j, entry = take(ARGV[3])
if not j then j, entry = take(ARGV[4]) end
if not j then return {} end

local f = redis.call('HMGET', job_key(j.id), 'timeout', 'manual', 'change')
local timeout = tonumber(f[1])
j.entry = entry
-- Here it is decided whether a job is simulated: by its options since it was
-- created, or because a node without a CLI runs it. It stays so.
if ARGV[6] == '1' and not j.simulated then
  j.simulated = true
  redis.call('HSET', job_key(j.id), 'simulated', '1')
end
stop_clocks(j)
local secret = arm_secret(j, num(timeout))
redis.call('HINCRBY', job_key(j.id), 'turn', 1)
redis.call('HDEL', job_key(j.id), 'submitted')
redis.call('HSET', job_key(j.id), 'deadline', num(NOW + timeout), 'started', num(NOW))
set_deadline(j, 'callback', timeout)
if f[2] == '1' then
  release(j) -- a person plays Claude: no worker is held
else
  redis.call('SADD', P .. ':running:' .. j.user, j.id)
  redis.call('HSET', job_key(j.id), 'entry', entry, 'owner', ARGV[1], 'node', ARGV[1])
end
-- Only a workspace takes the node a time that people notice.
local phase = f[3] == '1' and f[2] ~= '1' and 'preparing' or 'claude'
become(j, 'running', phase, state_data('running', phase, failure_members(j, 'running')))

-- What the user has written meanwhile goes into this turn's prompt; it is kept
-- until the turn has begun its conversation.
local told = redis.call('LRANGE', P .. ':told:' .. j.id, 0, -1)
redis.call('HSET', job_key(j.id), 'told', #told)
local answer = { j.id, secret, num(#told) }
for _, id in ipairs(told) do answer[#answer + 1] = redis.call('HGET', session_key('messages', j), id) or '' end
for _, v in ipairs(redis.call('HGETALL', job_key(j.id))) do answer[#answer + 1] = v end
return answer
