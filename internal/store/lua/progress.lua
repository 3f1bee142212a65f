-- Stores a progress report and tells the user. By far the most frequent change of a job: one round trip, no version,
-- since no rule decides on what it writes. signature: the digest of the report's, '' for none. Returns 1 if it is stored
-- and a message waits (only to a signed report), 0 if none does, or why it is refused: "unknown", "bad_signature",
-- "expired", or the job's state.
local id, activity, digest, user, now, head, signature, floor = unpack(ARGV)
local key = P .. ':job:' .. id
local state, recent, finished, simulated, expected, first, pending, delivered, steers = unpack(redis.call('HMGET', key, 'state',
  'recentDigests', 'finished', 'simulated', 'signature', 'firstCallback', 'pendingMessages', 'deliveredMessages', 'queuedSteers'))
if not state then return 'unknown' end
if finished then return state end
if signature ~= '' and signature ~= expected then return 'bad_signature' end
local secret, ends = unpack(redis.call('HMGET', P .. ':secret:' .. id, 'secret', 'until'))
local function has_grace() return grace(NOW, unpack(redis.call('HMGET', KEYS[2], 'seen', 'graceUntil'))) > 0 end
if not secret or ends and tonumber(ends) <= NOW and not has_grace() then return 'expired' end

-- curl and go-redis repeat a report if its response was lost. The digests of the latest reports
-- identify duplicates; the number covers what may arrive in between. Claude may also report the same
-- again, so a duplicate is told what waits, too.
local seen, mark = recent or '', digest .. ','
if not string.find(seen, mark, 1, true) then
  redis.call('HSET', key, 'activity', activity, 'recentDigests', string.sub(seen .. mark, -64 * #mark), 'updated', now)
  if not first and signature ~= '' then redis.call('HSET', key, 'firstCallback', now) end
  append(user, head .. (simulated and ' simulated\n' or '\n') .. activity, tonumber(floor))
end
if signature == '' then return 0 end
return waits(pending, delivered, steers)
