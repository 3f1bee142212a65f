-- 1 if a message or a steer waits that is not in the prompt of the job's running turn, else 0.
local function waits(id)
  local f = redis.call('HMGET', P .. ':job:' .. id, 'deliveredMessages', 'told')
  local told = redis.call('LLEN', P .. ':told:' .. id)
  if told > tonumber(f[1] or f[2] or '0') or redis.call('LLEN', P .. ':steers:' .. id) > 0 then return 1 end
  return 0
end
