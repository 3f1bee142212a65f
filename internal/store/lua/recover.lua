-- Rings Claude again for the turns of nodes whose heartbeat has lapsed.
--
-- ARGV[1] priority of the queue to look at
-- ARGV[2] code and ARGV[3] message for a job that keeps losing its node
-- ARGV[4] note for the next turn, JSON
-- Returns the request ids that were recovered.

local queue = P .. ':queue:' .. ARGV[1]
local recovered = {}
for _, node in ipairs(redis.call('ZRANGEBYSCORE', P .. ':nodes', '-inf', num(NOW))) do
  local held = redis.call('XPENDING', queue, 'workers', '-', '+', '1000', node)
  for _, pending in ipairs(held) do
    local entry = redis.call('XRANGE', queue, pending[1], pending[1])
    local j = entry[1] and load_job(entry[1][2][2])
    if j and j.entry == pending[1] then
      release(j)
      j.owner = nil
      unhold(j)
      ring_again(j)
      recovered[#recovered + 1] = j.id
      if j.state == 'running' then
        local attempt = redis.call('HINCRBY', job_key(j.id), 'attempt', 1)
        if attempt >= tonumber(redis.call('HGET', job_key(j.id), 'attempts')) then
          fail(j, 'failed', ARGV[2], ARGV[3], ARGV[3])
        else
          redis.call('HSET', job_key(j.id), 'note', ARGV[4])
          start_over(j, ARGV[2], 'The server that ran it was lost.', 0)
        end
      end
    else
      redis.call('XACK', queue, 'workers', pending[1])
      redis.call('XDEL', queue, pending[1])
    end
  end
  if #held == 0 and #redis.call('XPENDING', queue, 'workers', '-', '+', '1', node) == 0 then
    redis.call('XGROUP', 'DELCONSUMER', queue, 'workers', node)
  end
end
return recovered
