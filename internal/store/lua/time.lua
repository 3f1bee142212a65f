-- The store's time, ms since 1970, for the scripts that go by it: Redis' clock and a correction, see clock.go.
local s, micros = unpack(redis.call('TIME'))
local MICROS = s * 1000000 + micros
local REDIS = math.floor(MICROS / 1000)
local BY, CORRECTIONS, NOW, GRACE = (function()
  local by, count, seen, ends = unpack(redis.call('HMGET', KEYS[2], 'by', 'count', 'seen', 'graceUntil'))
  local now = REDIS + tonumber(by or '0')
  local left, new = grace(now, seen, ends)
  -- pcall: scripts that otherwise only read work while Redis refuses to write.
  if new then
    redis.pcall('HSET', KEYS[2], 'seen', num(now), 'graceUntil', num(new))
  elseif not seen or math.abs(now - seen) >= 1000 then
    redis.pcall('HSET', KEYS[2], 'seen', num(now))
    if ends and tonumber(ends) > now + LONGEST then redis.pcall('HSET', KEYS[2], 'graceUntil', num(now)) end -- the clock has jumped
  end
  return tonumber(by or '0'), tonumber(count or '0'), now, left
end)()

-- What a script answers, with the time that it went by.
local function timed(answer) return { NOW, CORRECTIONS, answer } end
