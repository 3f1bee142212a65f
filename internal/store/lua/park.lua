-- The call that asked waits no longer.
--
-- ARGV[1] request id   ARGV[2] checkpoint id
-- Returns the checkpoint's status, "" when it is unknown.

local c = load_checkpoint(ARGV[2])
if not c then return '' end
local j = load_job(ARGV[1])
if j and j.checkpoint == c.id and c.held == '1' then unhold(j) end
return c.status
