-- Lists the queue entries of nodes whose heartbeat has lapsed, however long ago.
--
-- ARGV[1] priority of the queue
-- Returns job and entry of each, in turn.

local queue, answer = P .. ':queue:' .. ARGV[1], {}
redis.call('ZREMRANGEBYSCORE', P .. ':nodes', '-inf', num(NOW - 86400000))
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', queue, 'workers')) do
  local node = consumer[2]
  if tonumber(redis.call('ZSCORE', P .. ':nodes', node) or 0) <= NOW then
    local held = redis.call('XPENDING', queue, 'workers', '-', '+', '1000', node)
    for _, pending in ipairs(held) do
      local entry = redis.call('XRANGE', queue, pending[1], pending[1])[1]
      if entry then
        answer[#answer + 1] = entry[2][2]
        answer[#answer + 1] = pending[1]
      else
        redis.call('XACK', queue, 'workers', pending[1])
      end
    end
    if #held == 0 then redis.call('XGROUP', 'DELCONSUMER', queue, 'workers', node) end
  end
end
return answer
