-- Returns Redis' clock, s and µs, its correction and how often it was corrected, and for how many ms nothing lapses.

local t, f = redis.call('TIME'), redis.call('HMGET', KEYS[2], 'by', 'count', 'seen', 'graceUntil')
local now = t[1] * 1000 + math.floor(t[2] / 1000) + tonumber(f[1] or '0')
return { t[1], t[2], f[1] or '0', f[2] or '0', num((grace(now, f[3], f[4]))) }
