-- Assigns a job to a node, from a level and an API key that the node has chosen, and lists what waits in
-- the partition. The job is the node's until the turn has ended, or lost.lua finds that none was started.
-- queue.go describes the keys.
--
-- No step depends on how many jobs wait: the cost is logarithmic. Users who have left nothing in
-- their lines are dropped from a round when their turn comes, once.
--
-- ARGV[1] node   ARGV[2] width of a level's scores   ARGV[3] level, from 1; 0 to list only; -1 for the oldest job
--   whose turn does not call Claude, of whatever level and key
-- ARGV[4] API key; '' for the jobs without one   ARGV[5] most keys to list of each level
-- ARGV[6…] levels, <priority>:<class> each
-- Returns {job, priority, entry, the turn of its user}, empty if no such job waits; and then, for each
-- level and key with waiting jobs, both and the first turn.

local width = tonumber(ARGV[2])
local function level_of(i) return ARGV[5 + i] end

-- Takes the turn of a member of a key's round. In that of the jobs without a key, a server of the previous
-- version may have put one of another key.
local function leave(i, key, who)
  redis.call('ZREM', round_of(level_of(i), key), who)
  if key ~= '' then redis.call('ZREM', P .. ':round:' .. level_of(i), who) end
end

-- Who is next at a level, of a key: user, turn, job, and whether the user has another one there.
local function first(i, key)
  local round = round_of(level_of(i), key)
  while true do
    local head = redis.call('ZRANGEBYSCORE', round, 0, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    local who = head[1]
    if not who then break end
    local jobs = redis.call('ZRANGEBYSCORE', P .. ':line:' .. who, num((i - 1) * width), '(' .. num(i * width), 'LIMIT', 0, 2)
    if jobs[1] and key_of(who) == key then
      return { who = who, turn = num(tonumber(head[2])), job = jobs[1], more = jobs[2] ~= nil }
    end
    leave(i, key, who)
    if jobs[1] then join(level_of(i), who, 0) end
  end
  if key ~= '' then redis.call('ZREM', P .. ':payers:' .. level_of(i), key) end
end

-- Makes the job of a user the node's.
local function assign(i, who, job, turn)
  local priority = string.match(level_of(i), '^%a+')
  local queue = P .. ':queue:' .. priority
  local entry = redis.call('XADD', queue, '*', 'id', job)
  redis.call('XREADGROUP', 'GROUP', 'workers', ARGV[1], 'STREAMS', queue, '>') -- now the node owns it
  redis.call('ZREM', P .. ':line:' .. who, job)
  redis.call('ZREM', P .. ':queued:' .. priority, job)
  return { job, priority, entry, turn }
end

local none = { '', '', '', '' }

local function take(i, key)
  local next = first(i, key)
  if not next then return none end
  local taken = assign(i, next.who, next.job, next.turn)
  leave(i, key, next.who)
  if next.more then join(level_of(i), next.who, 0) end
  if key ~= '' then redis.call('ZADD', P .. ':payers:' .. level_of(i), num(NOW), key) end -- until first finds none
  return taken
end

-- The user keeps the turn for what else waits. A server of the previous version may have put the job into the line
-- of a user without a key, or started it and left it in this list.
local function take_unlimited()
  for _, job in ipairs(redis.call('ZRANGE', P .. ':unlimited', 0, 99)) do
    local f = redis.call('HMGET', P .. ':job:' .. job, 'state', 'user', 'apiKey')
    if f[1] ~= 'pending' then redis.call('ZREM', P .. ':unlimited', job) end
    for _, who in ipairs({ f[2] or '', 'ringback:key:' .. (f[3] or '') .. ':' .. (f[2] or '') }) do
      local place = redis.call('ZSCORE', P .. ':line:' .. who, job)
      if place then
        local i = math.floor(tonumber(place) / width) + 1
        local turn = redis.call('ZSCORE', round_of(level_of(i), key_of(who)), who)
        return assign(i, who, job, turn and num(tonumber(turn)) or '0')
      end
    end
  end
  return none
end

local answer = ARGV[3] == '-1' and take_unlimited() or ARGV[3] == '0' and none or take(tonumber(ARGV[3]), ARGV[4])
for i = 1, #ARGV - 5 do
  local keys, listed = redis.call('ZRANGE', P .. ':payers:' .. level_of(i), 0, -1), 0
  table.insert(keys, 1, '')
  for _, key in ipairs(keys) do
    local next = listed < tonumber(ARGV[5]) and first(i, key)
    if next then
      listed = listed + 1
      for _, value in ipairs({ num(i), key, next.turn }) do answer[#answer + 1] = value end
    end
  end
end
return answer
