-- Adds what a job has cost on a day to what was spent on it by all. The cost is that of the
-- job's whole day and never falls, so that adding the same twice changes nothing, and what was
-- not added in time is added with the next.
--
-- ARGV[1] day   ARGV[2] request id   ARGV[3] cost, in billionths of a dollar   ARGV[4] kind
-- ARGV[5] user   ARGV[6] s that it is kept
-- Returns what was spent on the day by the user, the kind and all.

local spent, jobs = P .. ':spent:' .. ARGV[1], P .. ':spent-by-job:' .. ARGV[1]
local user, kind = 'user:' .. ARGV[5], 'kind:' .. ARGV[4]
local more = tonumber(ARGV[3]) - tonumber(redis.call('HGET', jobs, ARGV[2]) or '0')
if more > 0 then
  for _, field in ipairs({ user, kind, 'all' }) do redis.call('HINCRBY', spent, field, num(more)) end
  redis.call('HSET', jobs, ARGV[2], ARGV[3])
  redis.call('EXPIRE', spent, ARGV[6])
  redis.call('EXPIRE', jobs, 3 * 86400)
end
local n = redis.call('HMGET', spent, user, kind, 'all')
return { n[1] or '0', n[2] or '0', n[3] or '0' }
