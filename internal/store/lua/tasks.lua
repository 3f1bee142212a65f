-- Leases tasks of the outbox that are due. Whoever leases one has it for the
-- lease; one that is not done by then is due again.
--
-- ARGV[1] lease, ms   ARGV[2] most tasks
-- Returns how many ms remain until the next is due, -1 when there is none; when the leases end; and then
-- task and attempt of each.

local outbox, ends = P .. ':outbox', num(NOW + tonumber(ARGV[1]))
local answer = { '-1', ends }
for _, task in ipairs(redis.call('ZRANGEBYSCORE', outbox, '-inf', num(NOW), 'LIMIT', 0, ARGV[2])) do
  redis.call('ZADD', outbox, ends, task)
  local notice = P .. ':notice:' .. task
  local receiver = string.match(redis.call('HGET', notice, 'late') or '', '^%d+ (.*)$')
  if receiver then -- it is under way
    redis.call('HDEL', notice, 'late')
    redis.call('ZREM', P .. ':late:' .. receiver, task)
  end
  answer[#answer + 1] = task
  answer[#answer + 1] = num(redis.call('HINCRBY', P .. ':attempts', task, 1))
end
local first = redis.call('ZRANGE', outbox, 0, 0, 'WITHSCORES')
if first[2] then answer[1] = num(math.max(0, tonumber(first[2]) - NOW)) end
return timed(answer)
