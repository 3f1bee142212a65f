-- Adds what a turn has used so far to its job, by the answers of the model's API. All numbers
-- are those of the whole turn and never fall, so that booking the same twice changes nothing.
-- No version: no rule decides on them.
--
-- What the turn's requests that have not ended may have cost is kept beside it. If their server
-- is lost, it is booked as used: by the next server of the turn, or by the job's next turn.
--
-- ARGV[1] request id   ARGV[2] turn   ARGV[3] day
-- ARGV[4] s that counts of a day are kept
-- ARGV[5…8] tokens: input (with those of the cache), output, read from the cache, written to it
-- ARGV[9] cost, and ARGV[10] what may come to it, in billionths of a dollar
-- ARGV[11] the server's name for its count of the turn
-- Returns nothing for a job that is gone, else its latest turn, cost and budget in dollars, what
-- it has cost on the day, its kind and its user, and what the turn has used in all.

local key, metered = P .. ':job:' .. ARGV[1], P .. ':metered:' .. ARGV[1]
local f = redis.call('HMGET', key, 'turn', 'kind', 'user')
if not f[2] then return {} end

local function used(turn)
  local n = {}
  for text in string.gmatch(redis.call('HGET', metered, turn) or '', '%d+') do n[#n + 1] = tonumber(text) end
  return n
end

local function book(turn, now)
  local before, more = used(turn), {}
  for i = 1, 5 do
    now[i] = math.max(now[i] or 0, before[i] or 0)
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
  for i = 1, 5 do now[i] = num(now[i]) end
  local all = table.concat(now, ' ')
  if more[1] + more[2] + more[5] > 0 then redis.call('HSET', metered, turn, all) end
  return all
end

local turn, latest, open = tonumber(ARGV[2]), tonumber(f[1] or '0'), {}
local was = redis.call('HGET', metered, 'open')
for t, most, run in string.gmatch(was or '', '(%d+) (%d+) ([^ ;]+)') do
  local its = tonumber(t)
  if its ~= turn and its >= latest then
    open[#open + 1] = table.concat({ t, most, run }, ' ')
  elseif its ~= turn or run ~= ARGV[11] then
    book(t, { [5] = tonumber(most) })
  end
end

local now = {}
for i = 1, 5 do now[i] = tonumber(ARGV[4 + i]) end
local all, may = book(ARGV[2], now), tonumber(ARGV[10])
if may > 0 then open[#open + 1] = table.concat({ ARGV[2], num(tonumber(string.match(all, '%d+$')) + may), ARGV[11] }, ' ') end
local is = table.concat(open, '; ')
if is ~= '' then redis.call('HSET', metered, 'open', is) elseif was then redis.call('HDEL', metered, 'open') end

local job = redis.call('HMGET', key, 'cost', 'budget')
return { f[1] or '0', job[1] or '0', job[2] or '0', redis.call('HGET', metered, 'on:' .. ARGV[3]) or '0', f[2], f[3] or '', all }
