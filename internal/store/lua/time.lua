-- The store's time, ms since 1970: in front of the scripts that go by it. It is Redis' clock and
-- a correction, which lies under KEYS[2]: see clock.go.

local MICROS = (function()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end)()
local REDIS = math.floor(MICROS / 1000)
local BY, CORRECTIONS, NOW, GRACE = (function()
  local f = redis.call('HMGET', KEYS[2], 'by', 'count', 'seen', 'graceUntil')
  local by, seen, ends = tonumber(f[1] or '0'), f[3], f[4]
  local now = REDIS + by
  local left, new = grace(now, seen, ends)
  -- pcall: scripts that otherwise only read work while Redis refuses to write.
  if new then
    redis.pcall('HSET', KEYS[2], 'seen', num(now), 'graceUntil', num(new))
  elseif not seen or math.abs(now - seen) >= 1000 then
    redis.pcall('HSET', KEYS[2], 'seen', num(now))
    if ends and tonumber(ends) > now + LONGEST then redis.pcall('HSET', KEYS[2], 'graceUntil', num(now)) end -- the clock has jumped
  end
  return by, tonumber(f[2] or '0'), now, left
end)()

-- What a script answers, with the time that it went by.
local function timed(answer) return { NOW, CORRECTIONS, answer } end
