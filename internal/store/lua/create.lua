-- Creates a pending job with its secret and puts its first turn into the queue.
--
-- ARGV[1] request id      ARGV[2] user          ARGV[3] idempotency key or ""
-- ARGV[4] secret          ARGV[5] callback timeout, ms
-- ARGV[6] queue timeout, ms
-- ARGV[7] the user's message behind its id and time, JSON; "" for none
-- ARGV[8] job that this one follows in the same conversation, to tell it what the
--         user has written since the job ended; or ""
-- ARGV[9] digest of what is asked for
-- ARGV[10] "<checkpoint>|<round>" whose reply this job reads; "" for every other
-- ARGV[11..] field, value … of the record
-- Returns {"created", id}; for a repeated idempotency key {"exists", id}, or
-- {"conflict", id} where the job of that key was asked for otherwise;
-- {"superseded", ""} where that reply is no longer to be read; or {"heard", ""}
-- where there is nothing to tell a job that follows.

local id, user, idem = ARGV[1], ARGV[2], ARGV[3]
local idem_key = P .. ':idempotency:' .. user
local checkpoint, round = string.match(ARGV[10], '^(.+)|(%d+)$')
local read = checkpoint and load_checkpoint(checkpoint)
if checkpoint and not (read and read.status == 'reading' and read.round == round) then return { 'superseded', '' } end
if idem ~= '' then
  local known = redis.call('HGET', idem_key, idem)
  if known and redis.call('EXISTS', job_key(known)) == 1 then
    local asked = redis.call('HGET', job_key(known), 'asked')
    return { asked and asked ~= ARGV[9] and 'conflict' or 'exists', known }
  end
end

-- The client repeats a call whose answer it lost.
if redis.call('EXISTS', job_key(id)) == 1 then return { 'created', id } end

-- A job that follows another takes over what nobody has heard. There is nothing
-- where another job has taken it, or the one before runs again and hears it.
local before = ARGV[8] ~= '' and load_job(ARGV[8])
local unheard = before and P .. ':told:' .. before.id
if before and TERMINAL[before.state] then
  local heard = redis.call('HGET', job_key(before.id), 'told')
  if heard then
    redis.call('LTRIM', unheard, heard, -1)
    redis.call('HDEL', job_key(before.id), 'told')
  end
end
if ARGV[8] ~= '' and not (before and TERMINAL[before.state] and redis.call('EXISTS', unheard) == 1) then return { 'heard', '' } end

local fields = { 'state', '', 'created', num(NOW), 'turn', '0', 'attempt', '0' }
for i = 11, #ARGV do fields[#fields + 1] = ARGV[i] end
redis.call('HSET', job_key(id), unpack(fields))

local j = load_job(id)
if idem ~= '' then
  redis.call('HSET', idem_key, idem, id)
  redis.call('HSET', job_key(id), 'idempotency', idem, 'asked', ARGV[9])
end
local secret = P .. ':secret:' .. id
redis.call('HSET', secret, 'secret', ARGV[4], 'userId', user, 'createdAt', num(NOW))
redis.call('PEXPIRE', secret, ARGV[5])
if read then -- no list shows it: it is part of how the reply is taken
  redis.call('HSET', checkpoint_key(read.id), 'reader', id)
  redis.call('HSET', job_key(id), 'reads', ARGV[10])
else
  redis.call('ZADD', P .. ':jobs', num(NOW), id)
  redis.call('ZADD', P .. ':jobs:' .. user, num(NOW), id)
  redis.call('ZADD', P .. ':ids', 0, id)
end
set_deadline(j, 'queue', tonumber(ARGV[6]))
redis.call('HSET', session_key('session', j), 'job', id)
become(j, 'pending', before and before.owner and 'waiting_for_exit' or 'queued')
if ARGV[7] ~= '' then add_message(j, ARGV[7], 'NEW_MESSAGE', 'processing') end

-- It goes on in the other's conversation, once the other's process is gone.
if before then
  inherit(before.id, id)
  redis.call('RENAME', unheard, P .. ':told:' .. id)
  redis.call('PEXPIRE', P .. ':told:' .. id, num(j.keep))
end
if before and before.owner then redis.call('HSET', job_key(before.id), 'follower', id) else enqueue(j) end
return { 'created', id }
