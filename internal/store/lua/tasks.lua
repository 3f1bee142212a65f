-- Leases tasks of the outbox that are due. Whoever leases one has it for the
-- lease; one that is not done by then is due again.
--
-- ARGV[1] lease, ms   ARGV[2] that of a task with a notice   ARGV[3] most tasks
-- Returns how many ms remain until the next is due, -1 when there is none; and then for each task itself, when
-- its lease ends, and its attempt.

local outbox, answer = P .. ':outbox', { '-1' }
for _, task in ipairs(redis.call('ZRANGEBYSCORE', outbox, '-inf', num(NOW), 'LIMIT', 0, ARGV[3])) do
  local notice = P .. ':notice:' .. task
  local its = redis.call('HMGET', notice, 'at', 'late')
  local ends = num(NOW + ARGV[its[1] and 2 or 1])
  redis.call('ZADD', outbox, ends, task)
  local receiver = string.match(its[2] or '', '^%d+ (.*)$')
  if receiver then -- it is under way
    redis.call('HDEL', notice, 'late')
    redis.call('ZREM', P .. ':late:' .. receiver, task)
  end
  answer[#answer + 1] = task
  answer[#answer + 1] = ends
  answer[#answer + 1] = num(redis.call('HINCRBY', P .. ':attempts', task, 1))
end
local first = redis.call('ZRANGE', outbox, 0, 0, 'WITHSCORES')
if first[2] then answer[1] = num(math.max(0, tonumber(first[2]) - NOW)) end
return timed(answer)
