-- Counts tool calls of a running turn, and says whether something waits that the turn could be
-- told. It is called at each step of each turn: one round trip, no version, since no rule decides
-- on the count.
--
-- ARGV[1] request id   ARGV[2] how many tools were called
-- Returns how many tools the turn has called so far, and 1 if something waits, else 0.

local id = ARGV[1]
local key = P .. ':job:' .. id
local f = redis.call('HMGET', key, 'state', 'toolCalls', 'unreadReplies', 'pendingMessages', 'deliveredMessages', 'queuedSteers')
if not f[1] then return { 0, 0 } end
local calls = tonumber(f[2] or '0')
if ARGV[2] ~= '0' then calls = redis.call('HINCRBY', key, 'toolCalls', ARGV[2]) end
if f[3] then return { calls, 1 } end
return { calls, waits(f[4], f[5], f[6]) }
