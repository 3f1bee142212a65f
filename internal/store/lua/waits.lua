-- 1 if a message or a steer waits that is not in the prompt of the job's running turn, else 0: by these fields of its
-- record.
local function waits(pending, delivered, steers)
  return (steers or pending and #cjson.decode(pending) > tonumber(delivered or '0')) and 1 or 0
end
