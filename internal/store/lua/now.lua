-- Returns Redis' clock, s and µs, its correction and how often it was corrected, and for how many ms nothing lapses.
local s, micros = unpack(redis.call('TIME'))
local by, count, seen, ends = unpack(redis.call('HMGET', KEYS[2], 'by', 'count', 'seen', 'graceUntil'))
local now = s * 1000 + math.floor(micros / 1000) + tonumber(by or '0')
return { s, micros, by or '0', count or '0', num((grace(now, seen, ends))) }
