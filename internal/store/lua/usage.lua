-- Adds what a turn has used so far to its job, by the answers of the model's API. All numbers
-- are those of the whole turn and never fall, so that booking the same twice changes nothing.
-- No version: no rule decides on them.
--
-- ARGV[1] request id   ARGV[2] turn   ARGV[3] day   ARGV[4] s that counts of a day are kept
-- ARGV[5…8] tokens: input (with those of the cache), output, read from the cache, written to it
-- ARGV[9] cost, in billionths of a dollar
-- Returns nothing for a job that is gone, else its latest turn, cost and budget in dollars, what
-- it has cost on the day, its kind and its user.

local key, metered = P .. ':job:' .. ARGV[1], P .. ':metered:' .. ARGV[1]
local f = redis.call('HMGET', key, 'turn', 'kind', 'user')
if not f[2] then return {} end

local known, now, more = redis.call('HGET', metered, ARGV[2]) or '', {}, {}
local before = {}
for n in string.gmatch(known, '%d+') do before[#before + 1] = tonumber(n) end
for i = 1, 5 do
  now[i] = math.max(tonumber(ARGV[4 + i]), before[i] or 0)
  more[i] = now[i] - (before[i] or 0)
end
for i, field in ipairs({ 'inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens' }) do
  if more[i] > 0 then redis.call('HINCRBY', key, field, num(more[i])) end
end
if more[5] > 0 then
  local daily = P .. ':daily:' .. ARGV[3]
  local cost = tonumber(redis.call('HGET', key, 'cost') or '0') + more[5] / 1e9
  redis.call('HSET', key, 'cost', string.format('%.9f', cost))
  redis.call('HINCRBY', daily, 'spent:' .. f[2], num(more[5]))
  redis.call('EXPIRE', daily, ARGV[4])
  redis.call('HINCRBY', metered, 'on:' .. ARGV[3], num(more[5]))
end
if more[1] + more[2] + more[5] > 0 then
  for i = 1, 5 do now[i] = num(now[i]) end
  redis.call('HSET', metered, ARGV[2], table.concat(now, ' '))
end
local job = redis.call('HMGET', key, 'cost', 'budget')
return { f[1] or '0', job[1] or '0', job[2] or '0', redis.call('HGET', metered, 'on:' .. ARGV[3]) or '0', f[2], f[3] or '' }
