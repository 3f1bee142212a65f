-- Notes that a job is about to be opened, behind all that were noted before.
--
-- ARGV[1] the opening   ARGV[2] after how many ms it is forgotten
-- Returns the store's time and the openings before.

local key = P .. ':opening'
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', num(NOW - ARGV[2]))) do redis.call('ZREM', key, gone) end
redis.call('ZREM', key, ARGV[1])
local before = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
local latest, openings = 0, {}
for i = 1, #before, 2 do
  openings[#openings + 1] = before[i]
  latest = tonumber(before[i + 1])
end
redis.call('ZADD', key, num(math.max(NOW, latest + 1)), ARGV[1])
redis.call('PEXPIRE', key, ARGV[2])
return timed({ NOW, openings })
