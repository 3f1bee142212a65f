-- Counts the tools that a running turn has called, and says whether something waits that the turn could be told. One
-- round trip, no version: no rule decides on the count. Returns how many there were so far, and 1 if something waits.
local id, more = unpack(ARGV)
local key = P .. ':job:' .. id
local state, calls, replies, pending, delivered, steers = unpack(redis.call(
  'HMGET', key, 'state', 'toolCalls', 'unreadReplies', 'pendingMessages', 'deliveredMessages', 'queuedSteers'))
if not state then return { 0, 0 } end
if more ~= '0' then calls = redis.call('HINCRBY', key, 'toolCalls', more) end
return { tonumber(calls or '0'), replies and 1 or waits(pending, delivered, steers) }
