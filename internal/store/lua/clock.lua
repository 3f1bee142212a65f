-- Returns the store's time. A correction melts away by a thousandth of the time that passes, which
-- nobody notices, until the store's time is Redis' again.

local since = tonumber(redis.call('HGET', KEYS[2], 'since') or '0')
local melted = math.min(math.abs(BY), 1000, math.floor((REDIS - since) / 1000))
if melted > 0 then
  redis.call('HSET', KEYS[2], 'by', num(BY > 0 and BY - melted or BY + melted), 'since', num(REDIS))
end
return timed('')
