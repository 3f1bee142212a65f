-- Lists the entries of a queue that a node holds whose heartbeat has lapsed, job and entry of each. A node without any
-- is forgotten.
local priority, node = unpack(ARGV)
local queue, answer = P .. ':queue:' .. priority, {}
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
return answer
