-- Appends one event to the user's stream and publishes it. event is its stored form, see frame.go; floor an id that the
-- new one has to exceed. The id is the time of Redis' clock: an event that was lost when the store went back to an earlier
-- state leaves its id to nobody, whatever server the store is on now. Ids rise also where the clock does not. Each
-- event names the one before, the user's and the partition's, which shows whether any is missing between two.
local s, micros = unpack(redis.call('TIME'))
local MICROS = s * 1000000 + micros
local NOW = math.floor(MICROS / 1000) + tonumber(redis.call('HGET', KEYS[2], 'by') or '0') -- the store's time, as in time.lua
local function append(user, event, floor)
  local seq_key, latest_key = P .. ':seq:' .. user, P .. ':latest'
  local ids = redis.call('MGET', seq_key, latest_key)
  local before, latest = tonumber(ids[1] or '0'), tonumber(ids[2] or '0')
  local n = num(math.max(before + 1, latest + 1, floor + 1, MICROS))
  redis.call('SET', seq_key, n, 'KEEPTTL')
  redis.call('SET', latest_key, n)
  -- As many are kept as would fit into 4 MiB if they all had its size.
  local most = math.min(10000, math.max(200, math.floor(4 * 1024 * 1024 / #event)))
  redis.call('XADD', P .. ':events:' .. user, 'MAXLEN', '~', most, n .. '-0', 'f', event, 'p', num(before))
  redis.call('PUBLISH', P .. ':events', n .. ' ' .. num(before) .. ' ' .. num(latest) .. ' ' .. user .. '\n' .. event)
end
