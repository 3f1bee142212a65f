-- A start of a server takes the name of its node, or with '' gives it back, unless another start holds it that has not
-- ended. Returns that one, when its last heartbeat lapses, and in how many ms.
local node, start, ended = unpack(ARGV)
local holder = redis.call('HGET', P .. ':holders', node) or ''
if holder ~= '' and holder ~= start and holder ~= ended then
  local lapses = redis.call('ZSCORE', P .. ':nodes', node)
  return timed({ holder, lapses or '', num(math.max(0, tonumber(lapses or 0) - NOW)) })
end
redis.call('HSET', P .. ':holders', node, start)
return timed({})
