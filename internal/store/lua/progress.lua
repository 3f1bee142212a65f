-- Stores a progress report and tells the user. By far the most frequent change of a job:
-- one round trip, no version, since no rule decides on what it writes.
--
-- ARGV[1] request id   ARGV[2] the activity, JSON   ARGV[3] digest of the report
-- ARGV[4] user         ARGV[5] now, ms              ARGV[6] the head of its event, see frame.go
-- ARGV[7] digest of its signature; empty for none   ARGV[8] an id that the event's exceeds
-- Returns 1 if it is stored and a message waits (only to a signed report), 0 if none does, or why it is refused:
-- "unknown", "bad_signature", "expired", or the job's state.

local id, digest = ARGV[1], ARGV[3]
local key = P .. ':job:' .. id
local f = redis.call('HMGET', key, 'state', 'recentDigests', 'finished', 'simulated', 'signature', 'firstCallback',
  'pendingMessages', 'deliveredMessages', 'queuedSteers')
if not f[1] then return 'unknown' end
if f[3] then return f[1] end
if ARGV[7] ~= '' and ARGV[7] ~= f[5] then return 'bad_signature' end
local secret = redis.call('HMGET', P .. ':secret:' .. id, 'secret', 'until')
local function has_grace() return grace(NOW, unpack(redis.call('HMGET', KEYS[2], 'seen', 'graceUntil'))) > 0 end
if not secret[1] or secret[2] and tonumber(secret[2]) <= NOW and not has_grace() then return 'expired' end

-- curl and go-redis repeat a report if its response was lost. The digests of the latest reports
-- identify duplicates; the number covers what may arrive in between. Claude may also report the same
-- again, so a duplicate is told what waits, too.
local seen, mark = f[2] or '', digest .. ','
if not string.find(seen, mark, 1, true) then
  redis.call('HSET', key, 'activity', ARGV[2], 'recentDigests', string.sub(seen .. mark, -64 * #mark), 'updated', ARGV[5])
  if not f[6] and ARGV[7] ~= '' then redis.call('HSET', key, 'firstCallback', ARGV[5]) end
  append(ARGV[4], ARGV[6] .. (f[4] and ' simulated\n' or '\n') .. ARGV[2], tonumber(ARGV[8]))
end
if ARGV[7] == '' then return 0 end
return waits(f[7], f[8], f[9])
