-- How an event is appended: in front of the scripts that do.

-- What the events of a simulated job carry behind their data.
local SIMULATED = ',"simulated":true'

-- Appends one event to the user's stream and publishes it. rest is its frame
-- from behind the id.
local function append(user, id, what, rest)
  local seq_key = P .. ':seq:' .. user
  local seq = redis.call('INCR', seq_key)
  if seq == 1 then -- the first event: ids go on from the clock, so that they rise for ever
    local clock = redis.call('TIME')
    seq = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
    redis.call('SET', seq_key, num(seq))
    redis.call('SET', P .. ':base:' .. user, num(seq - 1))
  end
  local n = num(seq)
  local frame = '{"id":"' .. n .. '",' .. rest
  redis.call('XADD', P .. ':events:' .. user, 'MAXLEN', '~', '10000', n .. '-0', 'f', frame)
  redis.call('PUBLISH', P .. ':events', n .. ' ' .. id .. ' ' .. what .. ' ' .. user .. '\n' .. frame)
end
