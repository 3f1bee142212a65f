-- 1 if a message or a steer waits that is not in the prompt of the job's running turn, else 0.
-- delivered is the field deliveredMessages of its record.
local function waits(id, delivered)
  local told = redis.call('LLEN', P .. ':told:' .. id)
  if told > tonumber(delivered or '0') or redis.call('LLEN', P .. ':steers:' .. id) > 0 then return 1 end
  return 0
end
