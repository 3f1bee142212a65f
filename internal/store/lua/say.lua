-- Adds what Claude says to the session of its job, each thing once.
--
-- ARGV[1] request id   ARGV[2] turn
-- ARGV[3..] for each message: where in the turn's output it ends, and the
--           message behind id and time, JSON

local j = load_job(ARGV[1])
if not j then return 'unknown' end
local turn, offset = string.match(redis.call('HGET', job_key(j.id), 'said') or '0:0', '^(%d+):(%d+)$')
if tonumber(ARGV[2]) < tonumber(turn) then return 'late' end
local before = ARGV[2] == turn and tonumber(offset) or 0
local said = before
for i = 3, #ARGV, 2 do -- several messages may end at one place
  if tonumber(ARGV[i]) > before then
    said = tonumber(ARGV[i])
    add_message(j, ARGV[i + 1], 'NEW_MESSAGE', 'processing')
  end
end
redis.call('HSET', job_key(j.id), 'said', ARGV[2] .. ':' .. num(said))
return 'ok'
