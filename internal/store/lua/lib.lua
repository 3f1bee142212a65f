-- What changes of a job have in common; in front of their scripts, behind event.lua.

local clock = redis.call('TIME')
local MICROS = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local NOW = math.floor(MICROS / 1000)

local TERMINAL = { received = true, cancelled = true, rejected = true, expired = true, failed = true }

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
  local f = redis.call('HMGET', job_key(id), 'state', 'user', 'userJSON', 'prefix', 'keep', 'entry', 'priority', 'owner', 'turn')
  if not f[1] then return nil end
  return { id = id, state = f[1], user = f[2], userJSON = f[3], prefix = f[4], keep = tonumber(f[5]),
    entry = f[6], priority = f[7], owner = f[8], turn = tonumber(f[9]) }
end

-- Appends an event of a job's change.
local function emit(j, what, data)
  append(j.user, j.id, what, '","event":"' .. j.prefix .. ':' .. what .. '","requestId":"' .. j.id ..
    '","userId":' .. j.userJSON .. ',"time":"' .. rfc3339(NOW) .. '","data":' .. data .. '}')
  for _, name in ipairs({ ':events:', ':seq:', ':base:' }) do redis.call('PEXPIRE', P .. name .. j.user, num(j.keep)) end
end

-- Moves a job to another state, with its event.
local function become(j, state, what, data)
  j.state = state
  redis.call('HSET', job_key(j.id), 'state', state, 'updated', num(NOW))
  emit(j, what, data)
end

local function set_deadline(j, kind, ms)
  redis.call('ZADD', P .. ':deadlines', num(NOW + ms), kind .. '|' .. j.id)
end

-- Stops the clocks; deadline is what the record shows of the running one.
local function stop_clocks(j)
  redis.call('ZREM', P .. ':deadlines', 'queue|' .. j.id, 'callback|' .. j.id, 'human|' .. j.id, 'retry|' .. j.id)
  redis.call('HDEL', job_key(j.id), 'deadline')
end

-- Puts a pending job's next turn into the queue and wakes a worker.
local function enqueue(j)
  redis.call('XADD', P .. ':queue:' .. j.priority, '*', 'id', j.id)
  redis.call('PUBLISH', P .. ':wake', j.priority)
end

-- Gives the worker back: the queue entry is done, the user's next job may go.
local function release(j)
  if j.entry and j.entry ~= '' then
    redis.call('XACK', P .. ':queue:' .. j.priority, 'workers', j.entry)
    redis.call('XDEL', P .. ':queue:' .. j.priority, j.entry)
  end
  redis.call('HDEL', job_key(j.id), 'entry', 'owner')
  redis.call('SREM', P .. ':running:' .. j.user, j.id)
  local waiting = redis.call('ZPOPMIN', P .. ':waiting:' .. j.user)
  if waiting[1] then
    local w = load_job(waiting[1])
    if w and w.state == 'pending' then enqueue(w) end
  end
end

-- Ends a job for good (until a person asks for a retry). The worker, if any,
-- is given back when its process is gone.
local function finish(j, state, what, data)
  stop_clocks(j)
  redis.call('DEL', P .. ':secret:' .. j.id)
  redis.call('ZREM', P .. ':waiting:' .. j.user, j.id)
  redis.call('HDEL', job_key(j.id), 'checkpoint', 'note')
  redis.call('HSET', job_key(j.id), 'finished', num(NOW))
  set_deadline(j, 'purge', j.keep)
  become(j, state, what, data)
end

local function fail(j, state, code, message, said)
  redis.call('HSET', job_key(j.id), 'error', message, 'code', code)
  finish(j, state, 'error', '{"suggestionId":"' .. j.id .. '","error":' .. cjson.encode(said) .. ',"errorCode":"' .. code .. '"}')
end
