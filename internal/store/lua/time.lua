-- The store's time, ms since 1970: in front of the scripts that go by it. It is Redis' clock and
-- a correction, which lies under KEYS[2]: see clock.go.

local MICROS = (function()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end)()
local REDIS = math.floor(MICROS / 1000)
local BY, CORRECTIONS, NOW = (function()
  local correction = redis.call('HMGET', KEYS[2], 'by', 'count')
  local by = tonumber(correction[1] or '0')
  return by, tonumber(correction[2] or '0'), REDIS + by
end)()

-- What a script answers, with the time that it went by.
local function timed(answer) return { NOW, CORRECTIONS, answer } end
