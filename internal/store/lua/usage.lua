-- Adds what a turn has used so far to its job, by the answers of the model's API. All numbers are those of the whole
-- turn and never fall, so that booking the same twice changes nothing. No version: no rule decides on them. What the
-- turn's requests that have not ended may cost is kept with it. If their server is lost, it is booked as used: by the
-- next server of the turn, or by the job's next turn. Costs are in billionths of a dollar; run is the server's name for
-- its count of the turn. Returns nothing for a job that is gone, else its latest turn, cost and budget in dollars, what
-- it has cost on the day, its kind and its user, and what the turn has used in all.
local id, turn, day, seconds, input, output, read, written, cost, open_cost, run = unpack(ARGV)
local key, metered = P .. ':job:' .. id, P .. ':metered:' .. id
local latest, kind, user = unpack(redis.call('HMGET', key, 'turn', 'kind', 'user'))
if not kind then return {} end
latest = latest or '0'

local function book(of, now)
  local before, more = {}, {}
  for text in string.gmatch(redis.call('HGET', metered, of) or '', '%d+') do before[#before + 1] = tonumber(text) end
  for i = 1, 5 do
    local had = before[i] or 0
    now[i] = math.max(tonumber(now[i] or 0), had)
    more[i], now[i] = now[i] - had, num(now[i])
  end
  for i, field in ipairs({ 'inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens' }) do
    if more[i] > 0 then redis.call('HINCRBY', key, field, num(more[i])) end
  end
  if more[5] > 0 then
    local daily = P .. ':daily:' .. day
    local total = tonumber(redis.call('HGET', key, 'cost') or '0') + more[5] / 1e9
    redis.call('HSET', key, 'cost', string.format('%.9f', total))
    redis.call('HINCRBY', daily, 'spent:' .. kind, num(more[5]))
    redis.call('EXPIRE', daily, seconds)
    redis.call('HINCRBY', metered, 'on:' .. day, num(more[5]))
  end
  local all = table.concat(now, ' ')
  if more[1] + more[2] + more[5] > 0 then redis.call('HSET', metered, of, all) end
  return all
end

local open, was = {}, redis.call('HGET', metered, 'open')
for its, most, count in string.gmatch(was or '', '(%d+) (%d+) ([^ ;]+)') do
  if its ~= turn and tonumber(its) >= tonumber(latest) then
    open[#open + 1] = table.concat({ its, most, count }, ' ')
  elseif its ~= turn or count ~= run then
    book(its, { [5] = most })
  end
end
local all = book(turn, { input, output, read, written, cost })
if open_cost ~= '0' then
  open[#open + 1] = table.concat({ turn, num(tonumber(string.match(all, '%d+$')) + open_cost), run }, ' ')
end
if #open > 0 then
  redis.call('HSET', metered, 'open', table.concat(open, '; '))
elseif was then
  redis.call('HDEL', metered, 'open')
end
local total, budget = unpack(redis.call('HMGET', key, 'cost', 'budget'))
return { latest, total or '0', budget or '0', redis.call('HGET', metered, 'on:' .. day) or '0', kind, user or '', all }
