-- Assigns the next job of a partition to a node. It is the node's until the turn has ended, or
-- lost.lua finds that none was started. queue.go describes the keys.
--
-- No step depends on how many jobs wait: the cost is logarithmic. Users who have left nothing in
-- their lines are dropped from a round when their turn comes, once.
--
-- ARGV[1] node   ARGV[2] width of a level's scores   ARGV[3…] priority and round of each level:
--   interactive resumed, interactive new, batch resumed, batch new
-- Returns {job, priority, entry, users in the round before, or 0 if no other job waits}, or {} if
-- no job waits.

-- Of two that wait, how often the first is dequeued until the second is.
local NEW_EVERY, BATCH_EVERY = 4, 8

-- Who is next in a level: user, job, and whether the user has another one there.
local function first(level)
  local round, width = P .. ':round:' .. ARGV[2 + 2 * level], tonumber(ARGV[2])
  while true do
    local user = redis.call('ZRANGE', round, 0, 0)[1]
    if not user then return nil end
    local jobs = redis.call('ZRANGEBYSCORE', P .. ':line:' .. user, num((level - 1) * width), '(' .. num(level * width), 'LIMIT', 0, 2)
    if jobs[1] then return { user = user, job = jobs[1], more = jobs[2] ~= nil, round = round, priority = ARGV[1 + 2 * level] } end
    redis.call('ZREM', round, user)
  end
end

-- The first of two, unless the second has been passed over too often.
local function either(first, second, what, every)
  if not (first and second) then return first or second end
  if redis.call('HINCRBY', P .. ':passed', what, 1) < every then return first end
  redis.call('HDEL', P .. ':passed', what)
  return second
end

local waits = { first(1), first(2), first(3), first(4) }
local i = either((waits[1] or waits[2]) and 1, (waits[3] or waits[4]) and 3, 'batch', BATCH_EVERY)
if not i then return {} end
local next = either(waits[i], waits[i + 1], 'new:' .. ARGV[1 + 2 * i], NEW_EVERY)

local queue = P .. ':queue:' .. next.priority
local entry = redis.call('XADD', queue, '*', 'id', next.job)
redis.call('XREADGROUP', 'GROUP', 'workers', ARGV[1], 'STREAMS', queue, '>') -- now the node owns it
local users = redis.call('ZCARD', next.round)
redis.call('ZREM', P .. ':line:' .. next.user, next.job)
redis.call('ZREM', P .. ':queued:' .. next.priority, next.job)
redis.call('ZREM', next.round, next.user)
if next.more then last(next.round, next.user) end
local left = next.more or users > 1
for j = 1, 4 do left = left or (waits[j] and waits[j] ~= next) end
return { next.job, next.priority, entry, num(left and users or 0) }
