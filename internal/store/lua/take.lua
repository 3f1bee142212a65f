-- Takes the next entry of a partition's queues for a node. It is the node's until the
-- turn has ended, or lost.lua finds that none was started.
--
-- ARGV[1] node   ARGV[2] first priority   ARGV[3] second priority
-- Returns {job, priority, entry}, or {} when nothing waits.

for _, priority in ipairs({ ARGV[2], ARGV[3] }) do
  local read = redis.call('XREADGROUP', 'GROUP', 'workers', ARGV[1], 'COUNT', '1', 'STREAMS', P .. ':queue:' .. priority, '>')
  if read and read[1] and read[1][2][1] then return { read[1][2][1][2][2], priority, read[1][2][1][1] } end
end
return {}
