-- Leases tasks of the outbox that are due, for so many ms, at most some of them: one that is not done by then is due
-- again. Returns how many ms remain until the next is due, -1 when there is none; and then for each task itself, when
-- its lease ends, and its attempt.
local own, with_notice, most = unpack(ARGV)
local outbox, answer = P .. ':outbox', { '-1' }
for _, task in ipairs(redis.call('ZRANGEBYSCORE', outbox, '-inf', num(NOW), 'LIMIT', 0, most)) do
  local notice = P .. ':notice:' .. task
  local at, late = unpack(redis.call('HMGET', notice, 'at', 'late'))
  local ends = num(NOW + (at and with_notice or own))
  redis.call('ZADD', outbox, ends, task)
  local receiver = string.match(late or '', '^%d+ (.*)$')
  if receiver then -- it is under way
    redis.call('HDEL', notice, 'late')
    redis.call('ZREM', P .. ':late:' .. receiver, task)
  end
  local attempt = num(redis.call('HINCRBY', P .. ':attempts', task, 1))
  for _, value in ipairs({ task, ends, attempt }) do answer[#answer + 1] = value end
end
local first = redis.call('ZRANGE', outbox, 0, 0, 'WITHSCORES')
if first[2] then answer[1] = num(math.max(0, tonumber(first[2]) - NOW)) end
return timed(answer)
