-- Changes what becomes of notices, which are tasks of the outbox: see notice.go.
--
-- ARGV[1] what, and then
--   'late' task, kind, receiver, error, ms: the receiver did not take it; it is tried again after ms
--   'hasten' receiver, kind, …: the receiver takes notices again, so its late ones are due
--   'giveup' task, kind, error, ms: it is tried no more; kept for ms
--   'resend' task, kind, ms: it is tried again now, and needed for ms at most
-- Returns 1, or 0 if there is no such notice.

local outbox = P .. ':outbox'
local function notice(task) return P .. ':notice:' .. task end

local what, task, kind = ARGV[1], ARGV[2], ARGV[3]
if what == 'late' then
  if redis.call('ZADD', outbox, 'XX', 'CH', num(NOW + ARGV[6]), task) == 0 then return 0 end
  redis.call('HSET', notice(task), 'late', num(NOW) .. ' ' .. ARGV[4], 'error', ARGV[5])
  return 1
end

if what == 'hasten' then
  local some = false
  for i = 3, #ARGV do
    local waiting = redis.call('ZRANGE', P .. ':notices:' .. ARGV[i], 0, -1, 'WITHSCORES')
    for n = 1, #waiting, 2 do
      local one, since = waiting[n], tonumber(waiting[n + 1])
      local tried, receiver = string.match(redis.call('HGET', notice(one), 'late') or '', '^(%d+) (.*)$')
      if receiver == ARGV[2] then
        -- A notice that the receiver never takes is not tried with each one that it takes.
        local due = math.max(NOW, tonumber(tried) + math.floor((tried - since) / 50))
        if due < tonumber(redis.call('ZSCORE', outbox, one) or '0') then
          redis.call('ZADD', outbox, 'XX', num(due), one)
          some = true
        end
      end
    end
  end
  if some then redis.call('PUBLISH', P .. ':wake', 'outbox') end
  return some and 1 or 0
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
