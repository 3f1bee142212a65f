-- Creates a pending job with its secret and puts its first turn into the queue.
--
-- ARGV[1] request id      ARGV[2] user          ARGV[3] idempotency key or ""
-- ARGV[4] secret          ARGV[5] callback timeout, ms
-- ARGV[6] queue timeout, ms
-- ARGV[7..] field, value … of the record
-- Returns {"created", id} or {"exists", id} for a repeated idempotency key.

local id, user, idem = ARGV[1], ARGV[2], ARGV[3]
local idem_key = P .. ':idempotency:' .. user
if idem ~= '' then
  local known = redis.call('HGET', idem_key, idem)
  if known and redis.call('EXISTS', job_key(known)) == 1 then return { 'exists', known } end
end

-- The client repeats a call whose answer it lost.
if redis.call('EXISTS', job_key(id)) == 1 then return { 'created', id } end

local fields = { 'state', 'pending', 'created', num(NOW), 'updated', num(NOW), 'turn', '0', 'attempt', '0' }
for i = 7, #ARGV do fields[#fields + 1] = ARGV[i] end
redis.call('HSET', job_key(id), unpack(fields))

local j = load_job(id)
if idem ~= '' then
  redis.call('HSET', idem_key, idem, id)
  redis.call('HSET', job_key(id), 'idempotency', idem)
end
local secret = P .. ':secret:' .. id
redis.call('HSET', secret, 'secret', ARGV[4], 'userId', user, 'createdAt', num(NOW))
redis.call('PEXPIRE', secret, ARGV[5])
redis.call('ZADD', P .. ':jobs', num(NOW), id)
redis.call('ZADD', P .. ':jobs:' .. user, num(NOW), id)
set_deadline(j, 'queue', tonumber(ARGV[6]))
emit(j, 'pending', '{"status":"pending"}')
enqueue(j)
return { 'created', id }
