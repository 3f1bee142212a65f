-- Writes what belongs to a job beside its record. Where the record is gone nothing is
-- kept, for nobody would remove it: the store may have gone back to a time before the
-- job, whose process still runs.
--
-- ARGV[1] request id   ARGV[2] command   ARGV[3] key, behind the prefix
-- ARGV[4] ms that it is kept; 0: as long as the record   ARGV[5] the session of a chat, and these
-- count from when nothing waits there any more; '' for none   ARGV[6…] the command's arguments

if redis.call('EXISTS', P .. ':job:' .. ARGV[1]) == 0 then return 0 end
local key = P .. ':' .. ARGV[3]
redis.call(ARGV[2], key, unpack(ARGV, 6))
if ARGV[4] ~= '0' then
  local waits = ARGV[5] ~= '' and waits_in(P .. ':session:' .. ARGV[5]) or 0
  redis.call('PEXPIRE', key, num(waits + ARGV[4]))
end
return 1
