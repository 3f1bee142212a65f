-- Leases tasks of the outbox that are due. Whoever leases one has it for the
-- lease; one that is not done by then is due again.
--
-- ARGV[1] lease, ms   ARGV[2] most tasks
-- Returns task, attempt, … and then how many ms remain until the next is due, -1
-- when there is none.

local outbox, answer = P .. ':outbox', {}
for _, task in ipairs(redis.call('ZRANGEBYSCORE', outbox, '-inf', num(NOW), 'LIMIT', 0, ARGV[2])) do
  redis.call('ZADD', outbox, num(NOW + tonumber(ARGV[1])), task)
  redis.call('HDEL', P .. ':notice:' .. task, 'late') -- it is under way
  answer[#answer + 1] = task
  answer[#answer + 1] = num(redis.call('HINCRBY', P .. ':attempts', task, 1))
end
local first = redis.call('ZRANGE', outbox, 0, 0, 'WITHSCORES')
answer[#answer + 1] = first[2] and num(math.max(0, tonumber(first[2]) - NOW)) or '-1'
return timed(answer)
