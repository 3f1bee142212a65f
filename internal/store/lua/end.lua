-- Ends a job without a result: cancelled, rejected or failed.
--
-- ARGV[1] request id    ARGV[2] the state   ARGV[3] code   ARGV[4] message
-- ARGV[5] turn it is about, "" for any
-- Returns "ok", "unknown", "stale", or the state from which it cannot end so.

local j = load_job(ARGV[1])
if not j then return 'unknown' end
if TERMINAL[j.state] then return j.state end
if ARGV[5] ~= '' and tonumber(ARGV[5]) ~= j.turn then return 'stale' end
if not moves()[j.state .. '>' .. ARGV[2] .. '/'] then return j.state end
if ARGV[2] == 'failed' then
  fail(j, 'failed', ARGV[3], ARGV[4], ARGV[4])
else
  redis.call('HSET', job_key(j.id), 'error', ARGV[4], 'code', ARGV[3])
  add_notice(j, ARGV[4])
  finish(j, ARGV[2])
end
return 'ok'
