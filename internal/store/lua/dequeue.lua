-- Assigns a job to a node, from a level and an API key ('' for the jobs without one) that the node has chosen, and lists
-- what waits in the partition. The job is the node's until the turn has ended, or lost.lua finds that none was started.
-- queue.go describes the keys. No step depends on how many jobs wait: the cost is logarithmic. Users who have left
-- nothing in their lines are dropped from a round when their turn comes, once.
-- level: from 1; 0 to list only; -1 for the oldest job whose turn does not call Claude, of whatever level and key. width:
-- of a level's scores. most: how many keys are listed of each level. Then come the levels, <priority>:<class> each.
-- Returns {job, priority, entry, the turn of its user}, empty if no such job waits; and then, for each
-- level and key with waiting jobs, both and the first turn.
local node, width, level, api_key, most = unpack(ARGV)
width, most = tonumber(width), tonumber(most)
local function level_of(i) return ARGV[5 + i] end

local function leave(i, key, who)
  redis.call('ZREM', round_of(level_of(i), key), who)
  if key ~= '' then redis.call('ZREM', P .. ':round:' .. level_of(i), who) end
end

-- Who is next at a level, of a key: user, turn, job, and whether the user has another one there.
local function first(i, key)
  local round = round_of(level_of(i), key)
  while true do
    local who, turn = unpack(redis.call('ZRANGEBYSCORE', round, 0, '+inf', 'WITHSCORES', 'LIMIT', 0, 1))
    if not who then break end
    local jobs = redis.call('ZRANGEBYSCORE', P .. ':line:' .. who, num((i - 1) * width), '(' .. num(i * width), 'LIMIT', 0, 2)
    if jobs[1] then return { who = who, turn = num(tonumber(turn)), job = jobs[1], more = jobs[2] ~= nil } end
    leave(i, key, who)
  end
  if key ~= '' then redis.call('ZREM', P .. ':payers:' .. level_of(i), key) end
end

-- Makes the job of a user the node's.
local function assign(i, who, job, turn)
  local priority = string.match(level_of(i), '^%a+')
  local queue = P .. ':queue:' .. priority
  local entry = redis.call('XADD', queue, '*', 'id', job)
  redis.call('XREADGROUP', 'GROUP', 'workers', node, 'STREAMS', queue, '>') -- now the node owns it
  redis.call('ZREM', P .. ':line:' .. who, job)
  redis.call('ZREM', P .. ':queued:' .. priority, job)
  return { job, priority, entry, turn }
end

local function take(i, key)
  local next = first(i, key)
  if not next then return nil end
  local taken = assign(i, next.who, next.job, next.turn)
  leave(i, key, next.who)
  if next.more then join(level_of(i), next.who, 0) end
  if key ~= '' then redis.call('ZADD', P .. ':payers:' .. level_of(i), num(NOW), key) end -- until first finds none
  return taken
end

-- The user keeps the turn for what else waits.
local function take_unlimited()
  for _, job in ipairs(redis.call('ZRANGE', P .. ':unlimited', 0, 99)) do
    local user, key = unpack(redis.call('HMGET', P .. ':job:' .. job, 'user', 'apiKey'))
    local who = key and 'ringback:key:' .. key .. ':' .. user or user or ''
    local score = redis.call('ZSCORE', P .. ':line:' .. who, job)
    if score then
      local i = math.floor(tonumber(score) / width) + 1
      return assign(i, who, job, num(tonumber(redis.call('ZSCORE', round_of(level_of(i), key_of(who)), who) or '0')))
    end
  end
end

local taken
if level == '-1' then taken = take_unlimited() elseif level ~= '0' then taken = take(tonumber(level), api_key) end
local answer = taken or { '', '', '', '' }
for i = 1, #ARGV - 5 do
  local keys, listed = redis.call('ZRANGE', P .. ':payers:' .. level_of(i), 0, -1), 0
  table.insert(keys, 1, '')
  for _, key in ipairs(keys) do
    local next = listed < most and first(i, key)
    if next then
      listed = listed + 1
      for _, value in ipairs({ num(i), key, next.turn }) do answer[#answer + 1] = value end
    end
  end
end
return answer
