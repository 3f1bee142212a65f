-- Changes what becomes of tasks of the outbox, above all of notices: see task.go and notice.go.
--
-- ARGV[1] what, and then
--   'finish' task, kind, lease: it is done; of one without a notice only if the lease is still the one that ends then
--   'postpone' task, lease, ms: it is tried again after ms, if the lease is still the one that ends then
--   'late' task, kind, receiver, error, ms: the receiver did not take it; it is tried again after ms
--   'hasten' receiver, most: the receiver takes notices again, so some of its late ones are due
--   'giveup' task, kind, error, ms: it is tried no more; kept for ms
--   'resend' task, kind, ms: it is tried again now, and needed for ms at most
-- Returns 1, or 0 if there is no such notice; of 'hasten', how many are left that are late.

local outbox = P .. ':outbox'
local function notice(task) return P .. ':notice:' .. task end

local what, task, kind = ARGV[1], ARGV[2], ARGV[3]
if what == 'finish' then
  if redis.call('DEL', notice(task)) == 0 and redis.call('ZSCORE', outbox, task) ~= ARGV[4] then return 0 end
  redis.call('ZREM', outbox, task)
  redis.call('HDEL', P .. ':attempts', task)
  redis.call('ZREM', P .. ':notices:' .. kind, task)
  return 1
end

if what == 'postpone' then
  if redis.call('ZSCORE', outbox, task) ~= ARGV[3] then return 0 end
  redis.call('ZADD', outbox, num(NOW + ARGV[4]), task)
  redis.call('PUBLISH', P .. ':wake', 'outbox') -- nodes that have looked meanwhile expect it after the lease
  return 1
end

if what == 'late' then
  if redis.call('ZADD', outbox, 'XX', 'CH', num(NOW + ARGV[6]), task) == 0 then return 0 end
  redis.call('HSET', notice(task), 'late', num(NOW) .. ' ' .. ARGV[4], 'error', ARGV[5])
  -- A notice that the receiver never takes is not tried with each one that it takes.
  local since = tonumber(redis.call('ZSCORE', P .. ':notices:' .. kind, task) or NOW)
  redis.call('ZADD', P .. ':late:' .. ARGV[4], num(NOW + math.floor((NOW - since) / 50)), task)
  return 1
end

if what == 'hasten' then
  local late, some = P .. ':late:' .. ARGV[2], false
  local waiting = redis.call('ZRANGE', late, 0, ARGV[3] - 1, 'WITHSCORES')
  for n = 1, #waiting, 2 do
    local one, due = waiting[n], math.max(NOW, tonumber(waiting[n + 1]))
    redis.call('ZREM', late, one)
    if due < tonumber(redis.call('ZSCORE', outbox, one) or '0') then
      redis.call('ZADD', outbox, 'XX', num(due), one)
      some = true
    end
  end
  if some then redis.call('PUBLISH', P .. ':wake', 'outbox') end
  return redis.call('ZCARD', late)
end

if what == 'giveup' then
  if redis.call('ZREM', outbox, task) == 0 then return 0 end
  redis.call('HDEL', P .. ':attempts', task)
  redis.call('ZREM', P .. ':notices:' .. kind, task)
  for _, old in ipairs(redis.call('ZRANGEBYSCORE', P .. ':givenup:' .. kind, '-inf', num(NOW - ARGV[5]), 'LIMIT', 0, 100)) do
    redis.call('ZREM', P .. ':givenup:' .. kind, old)
  end
  redis.call('ZADD', P .. ':givenup:' .. kind, num(NOW), task)
  redis.call('HSET', notice(task), 'error', ARGV[4])
  redis.call('PEXPIRE', notice(task), ARGV[5])
  return 1
end

-- resend
if redis.call('ZREM', P .. ':givenup:' .. kind, task) == 1 then
  if redis.call('EXISTS', notice(task)) == 0 then return 0 end
  redis.call('PEXPIRE', notice(task), ARGV[4])
  redis.call('ZADD', P .. ':notices:' .. kind, num(NOW), task)
  redis.call('ZADD', outbox, num(NOW), task)
elseif not redis.call('ZSCORE', outbox, task) then
  return 0
elseif redis.call('HGET', notice(task), 'late') then -- else it is due, or under way
  redis.call('ZADD', outbox, num(NOW), task)
end
redis.call('PUBLISH', P .. ':wake', 'outbox')
return 1
