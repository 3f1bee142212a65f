-- The one clock: in front of the scripts that need it.

local NOW = (function()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end)()
