-- 1 if a message or a steer waits that is not in the prompt of the job's running turn, else 0. The
-- arguments are fields of its record: pendingMessages, deliveredMessages, queuedSteers.
local function waits(pending, delivered, steers)
  if steers or pending and #cjson.decode(pending) > tonumber(delivered or '0') then return 1 end
  return 0
end
