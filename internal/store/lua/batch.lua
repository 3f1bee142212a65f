-- Keeps one batch of a large result and shows it to the user at once.
--
-- ARGV[1] request id   ARGV[2] index   ARGV[3] digest   ARGV[4] items, JSON array
-- ARGV[5] number of items   ARGV[6] number of other batches it was judged with,
--         -1 when they do not matter
-- Returns {"accepted"|"repeated", total} or {"conflict"|"stale"|"unknown"|<the
-- state that takes none>}.
-- A batch is stored as "<digest> <number> <total then> <items>".

local j = load_job(ARGV[1])
if not j then return { 'unknown' } end
if TERMINAL[j.state] or j.checkpoint then return { j.state } end
if redis.call('EXISTS', P .. ':secret:' .. j.id) == 0 then return { 'expired' } end

local key = P .. ':batches:' .. j.id
local known = redis.call('HGET', key, ARGV[2])
if known then
  local digest, total = string.match(known, '^(%S+) %d+ (%d+) ')
  if digest ~= ARGV[3] then return { 'conflict' } end
  return { 'repeated', total }
end
if ARGV[6] ~= '-1' and redis.call('HLEN', key) ~= tonumber(ARGV[6]) then return { 'stale' } end
local total = tonumber(ARGV[5])
for _, batch in ipairs(redis.call('HVALS', key)) do
  total = total + tonumber(string.match(batch, '^%S+ (%d+) '))
end
redis.call('HSET', key, ARGV[2], ARGV[3] .. ' ' .. ARGV[5] .. ' ' .. num(total) .. ' ' .. ARGV[4])
redis.call('HSET', job_key(j.id), 'updated', num(NOW))
emit(j, 'partial', '{"suggestions":' .. ARGV[4] .. ',"total":' .. num(total) .. '}')
return { 'accepted', num(total) }
