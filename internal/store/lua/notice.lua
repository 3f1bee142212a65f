-- Changes what becomes of tasks of the outbox, above all of notices: see task.go and notice.go. Returns 1, or 0 if there
-- is no such task.
local outbox = P .. ':outbox'
local function notice(task) return P .. ':notice:' .. task end
local function wake() redis.call('PUBLISH', P .. ':wake', 'outbox') end
local change = {}

-- It is done; one without a notice only if the lease is still the one that ends then.
function change.finish(task, kind, lease)
  if redis.call('DEL', notice(task)) == 0 and redis.call('ZSCORE', outbox, task) ~= lease then return 0 end
  redis.call('ZREM', outbox, task)
  redis.call('HDEL', P .. ':attempts', task)
  redis.call('ZREM', P .. ':notices:' .. kind, task)
end

-- It is tried again after ms, if the lease is still the one that ends then.
function change.postpone(task, lease, ms)
  if redis.call('ZSCORE', outbox, task) ~= lease then return 0 end
  redis.call('ZADD', outbox, num(NOW + ms), task)
  wake() -- nodes that have looked in between expect it after the lease
end

-- The receiver did not take it: it is tried again after ms. If the receiver takes others, one that it never takes is
-- not tried with each of them.
function change.late(task, kind, receiver, why, ms)
  if redis.call('ZADD', outbox, 'XX', 'CH', num(NOW + ms), task) == 0 then return 0 end
  redis.call('HSET', notice(task), 'late', num(NOW) .. ' ' .. receiver, 'error', why)
  local since = tonumber(redis.call('ZSCORE', P .. ':notices:' .. kind, task) or NOW)
  redis.call('ZADD', P .. ':late:' .. receiver, num(NOW + math.floor((NOW - since) / 50)), task)
end

-- The receiver takes notices again, so some of its late ones are due. Returns how many are left.
function change.hasten(receiver, most)
  local late = P .. ':late:' .. receiver
  local waiting = redis.call('ZRANGE', late, 0, most - 1, 'WITHSCORES')
  for n = 1, #waiting, 2 do
    local task, due = waiting[n], math.max(NOW, tonumber(waiting[n + 1]))
    redis.call('ZREM', late, task)
    redis.call('ZADD', outbox, 'XX', 'LT', num(due), task)
  end
  if #waiting > 0 then wake() end
  return redis.call('ZCARD', late)
end

-- It is tried no more, and kept for ms.
function change.giveup(task, kind, why, ms)
  if redis.call('ZREM', outbox, task) == 0 then return 0 end
  redis.call('HDEL', P .. ':attempts', task)
  redis.call('ZREM', P .. ':notices:' .. kind, task)
  local given_up = P .. ':givenup:' .. kind
  for _, old in ipairs(redis.call('ZRANGEBYSCORE', given_up, '-inf', num(NOW - ms), 'LIMIT', 0, 100)) do
    redis.call('ZREM', given_up, old)
  end
  redis.call('ZADD', given_up, num(NOW), task)
  redis.call('HSET', notice(task), 'error', why)
  redis.call('PEXPIRE', notice(task), ms)
end

-- It is tried again now, and kept for ms at most.
function change.resend(task, kind, ms)
  if redis.call('ZREM', P .. ':givenup:' .. kind, task) == 1 then
    if redis.call('EXISTS', notice(task)) == 0 then return 0 end
    redis.call('PEXPIRE', notice(task), ms)
    redis.call('ZADD', P .. ':notices:' .. kind, num(NOW), task)
    redis.call('ZADD', outbox, num(NOW), task)
  elseif not redis.call('ZSCORE', outbox, task) then
    return 0
  elseif redis.call('HGET', notice(task), 'late') then -- else it is due, or under way
    redis.call('ZADD', outbox, num(NOW), task)
  end
  wake()
end

return change[ARGV[1]](unpack(ARGV, 2)) or 1
