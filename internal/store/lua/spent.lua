-- Adds what a job has cost on a day to what was spent on it by all. The cost is that of the job's whole day and never
-- falls, so that adding the same twice changes nothing, and what was not added in time is added with the next. What the
-- job's requests that are out may still cost at most is noted for ms; of a server that is lost, this is forgotten.
-- Costs are in billionths of a dollar. Returns what was spent on the day by the user, on the kind and by all, and, if
-- most is not 0, what the requests of other jobs that are out cost at most: of the user, the kind and all.
local day, id, cost, kind, user, seconds, most, ms = unpack(ARGV)
local spent, jobs, out = P .. ':spent:' .. day, P .. ':spent-by-job:' .. day, P .. ':out'
local fields = { 'user:' .. user, 'kind:' .. kind, 'all' }
local more = tonumber(cost) - tonumber(redis.call('HGET', jobs, id) or '0')
if more > 0 then
  for _, field in ipairs(fields) do redis.call('HINCRBY', spent, field, num(more)) end
  redis.call('HSET', jobs, id, cost)
  redis.call('EXPIRE', spent, seconds)
  redis.call('EXPIRE', jobs, 3 * 86400)
end
local n = redis.call('HMGET', spent, unpack(fields))
local of_user, of_kind, of_all = 0, 0, 0
if most == '0' then
  redis.call('HDEL', out, id)
else
  local all = redis.call('HGETALL', out)
  for i = 1, #all, 2 do
    local lapses, its, its_kind, its_user = string.match(all[i + 1], '^(%d+) (%d+) (%S+) (.*)$')
    if tonumber(lapses) <= NOW and GRACE == 0 then
      redis.call('HDEL', out, all[i])
    elseif all[i] ~= id then
      of_all = of_all + tonumber(its)
      if its_kind == kind then of_kind = of_kind + tonumber(its) end
      if its_user == user then of_user = of_user + tonumber(its) end
    end
  end
  redis.call('HSET', out, id, table.concat({ num(NOW + ms), most, kind, user }, ' '))
end
return { n[1] or '0', n[2] or '0', n[3] or '0', num(of_user), num(of_kind), num(of_all) }
