-- Keeps a steer until the turn that runs has ended; ask.lua takes it from there.
--
-- ARGV[1] request id   ARGV[2] how often the change may be steered
-- ARGV[3] the steer, a JSON object of texts: reply (JSON without the closing
--         brace), by (JSON) and audit (JSON members with a comma before them);
--         message, the id of the person's message, is added
-- ARGV[4] the person's message behind id and time, JSON
-- Returns {"queued"}, {"review", checkpoint} where it is to be answered at once,
-- {"approved"}, {"limit", steers so far}, {"unknown"}, or {state} of a job that
-- has ended.

local j = load_job(ARGV[1])
if not j then return { 'unknown' } end
if TERMINAL[j.state] then return { j.state } end
if j.checkpoint and redis.call('HGET', checkpoint_key(j.checkpoint), 'type') == 'review' then return { 'review', j.checkpoint } end
local f = redis.call('HMGET', job_key(j.id), 'reviewed', 'steered')
if f[1] == 'approve' then return { 'approved' } end
local steers = P .. ':steers:' .. j.id
local n = tonumber(f[2] or 0) + redis.call('LLEN', steers)
if n >= tonumber(ARGV[2]) then return { 'limit', num(n) } end
local steer = cjson.decode(ARGV[3])
steer.message = num(add_message(j, ARGV[4], 'NEW_MESSAGE', 'processing'))
redis.call('RPUSH', steers, cjson.encode(steer))
return { 'queued' }
