-- Takes the decision on a use of a tool, once it is there.
--
-- ARGV[1] request id   ARGV[2] subject: the use and its input
-- ARGV[3] JSON members for the audit log, with a comma before them
-- Returns {"approved", checkpoint} and uses the approval up, or {""}.

local approvals = P .. ':approvals:' .. ARGV[1]
local approval = redis.call('HGET', approvals, ARGV[2])
if not approval then return { '' } end
redis.call('HDEL', approvals, ARGV[2])
local checkpoint, untl = string.match(approval, '^(.-)|(%d+)$')
if tonumber(untl) < NOW then
  add_audit(ARGV[1], '"event":"refused","detail":"the approval has expired","checkpointId":"' .. checkpoint .. '"' .. ARGV[3])
  return { '' }
end
add_audit(ARGV[1], '"event":"started","checkpointId":"' .. checkpoint .. '"' .. ARGV[3])
return { 'approved', checkpoint }
