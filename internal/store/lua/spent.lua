-- Adds what a job has cost on a day to what was spent on it by all. The cost is that of the
-- job's whole day and never falls, so that adding the same twice changes nothing, and what was
-- not added in time is added with the next. What the job's requests that are out may still cost
-- is noted; of a server that is lost, this is forgotten.
--
-- ARGV[1] day   ARGV[2] request id   ARGV[3] cost, in billionths of a dollar   ARGV[4] kind
-- ARGV[5] user   ARGV[6] s that it is kept   ARGV[7] what the requests that are out cost at most
-- ARGV[8] ms after which that is forgotten
-- Returns what was spent on the day by the user, the kind and all, and, if ARGV[7] is not 0,
-- what the requests of other jobs that are out cost at most: of the user, the kind and all.

local spent, jobs, out = P .. ':spent:' .. ARGV[1], P .. ':spent-by-job:' .. ARGV[1], P .. ':out'
local user, kind = 'user:' .. ARGV[5], 'kind:' .. ARGV[4]
local more = tonumber(ARGV[3]) - tonumber(redis.call('HGET', jobs, ARGV[2]) or '0')
if more > 0 then
  for _, field in ipairs({ user, kind, 'all' }) do redis.call('HINCRBY', spent, field, num(more)) end
  redis.call('HSET', jobs, ARGV[2], ARGV[3])
  redis.call('EXPIRE', spent, ARGV[6])
  redis.call('EXPIRE', jobs, 3 * 86400)
end
local n = redis.call('HMGET', spent, user, kind, 'all')
local of_user, of_kind, of_all = 0, 0, 0
if ARGV[7] == '0' then
  redis.call('HDEL', out, ARGV[2])
else
  local all = redis.call('HGETALL', out)
  for i = 1, #all, 2 do
    local lapses, most, its_kind, its_user = string.match(all[i + 1], '^(%d+) (%d+) (%S+) (.*)$')
    if tonumber(lapses) <= NOW and GRACE == 0 then
      redis.call('HDEL', out, all[i])
    elseif all[i] ~= ARGV[2] then
      of_all = of_all + tonumber(most)
      if its_kind == ARGV[4] then of_kind = of_kind + tonumber(most) end
      if its_user == ARGV[5] then of_user = of_user + tonumber(most) end
    end
  end
  redis.call('HSET', out, ARGV[2], table.concat({ num(NOW + ARGV[8]), ARGV[7], ARGV[4], ARGV[5] }, ' '))
end
return { n[1] or '0', n[2] or '0', n[3] or '0', num(of_user), num(of_kind), num(of_all) }
