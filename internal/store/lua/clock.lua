-- Returns the store's time, and for how many ms nothing lapses. A correction shrinks by a thousandth of the time
-- that passes, which nobody notices, until the store's time is Redis' again.
local since = tonumber(redis.call('HGET', KEYS[2], 'since') or '0')
local less = math.min(math.abs(BY), 1000, math.floor((REDIS - since) / 1000))
if less > 0 then
  redis.call('HSET', KEYS[2], 'by', num(BY > 0 and BY - less or BY + less), 'since', num(REDIS))
end
return timed(GRACE)
