-- For how many ms something still waits in a chat: until the latest of its clocks is due. What does not wait any more
-- is forgotten.
local function waits_in(session)
  local longest, fields = 0, redis.call('HGETALL', session)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, 6) == 'waits:' then
      local wait = tonumber(fields[i + 1]) - NOW
      if wait > 0 then longest = math.max(longest, wait) else redis.call('HDEL', session, fields[i]) end
    end
  end
  return longest
end
