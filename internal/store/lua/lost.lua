-- Lists the queue entries of a node whose heartbeat has lapsed. One that has none is
-- forgotten.
--
-- ARGV[1] priority of the queue   ARGV[2] node
-- Returns job and entry of each, in turn.

local queue, answer = P .. ':queue:' .. ARGV[1], {}
local held = redis.call('XPENDING', queue, 'workers', '-', '+', '1000', ARGV[2])
for _, pending in ipairs(held) do
  local entry = redis.call('XRANGE', queue, pending[1], pending[1])[1]
  if entry then
    answer[#answer + 1] = entry[2][2]
    answer[#answer + 1] = pending[1]
  else
    redis.call('XACK', queue, 'workers', pending[1])
  end
end
if #held == 0 then redis.call('XGROUP', 'DELCONSUMER', queue, 'workers', ARGV[2]) end
return answer
