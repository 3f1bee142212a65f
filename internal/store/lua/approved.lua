-- Takes the decision on a use of a tool, once it is there, and uses it up.
--
-- ARGV[1] request id   ARGV[2] subject: the use and its input
-- ARGV[3] JSON members for the audit log, with a comma before them
-- Returns {"approved"|"denied", checkpoint}, or {""} when there is none.

local approvals = P .. ':approvals:' .. ARGV[1]
local decision = redis.call('HGET', approvals, ARGV[2])
if not decision then return { '' } end
redis.call('HDEL', approvals, ARGV[2])
local checkpoint, untl, no = string.match(decision, '^(.-)|(%d+)(.*)$')
if no ~= '' then return { 'denied', checkpoint } end
if tonumber(untl) < NOW then
  add_audit(ARGV[1], '"event":"refused","detail":"the approval has expired","checkpointId":"' .. checkpoint .. '"' .. ARGV[3])
  return { '' }
end
add_audit(ARGV[1], '"event":"started","checkpointId":"' .. checkpoint .. '"' .. ARGV[3])
local c, j = load_checkpoint(checkpoint), load_job(ARGV[1])
if c and j and c.call ~= '' then hand_call(j, c.call, 'turn', '') end
return { 'approved', checkpoint }
