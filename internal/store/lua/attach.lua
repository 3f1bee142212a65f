-- Writes what belongs to a job beside its record. Where the record is gone nothing is
-- kept, for nobody would remove it: the store may have gone back to a time before the
-- job, whose process still runs.
--
-- ARGV[1] request id   ARGV[2] command   ARGV[3] key, behind the prefix
-- ARGV[4] s that it is kept; 0: as long as the record   ARGV[5…] the command's arguments

if redis.call('EXISTS', P .. ':job:' .. ARGV[1]) == 0 then return 0 end
local key = P .. ':' .. ARGV[3]
redis.call(ARGV[2], key, unpack(ARGV, 5))
if ARGV[4] ~= '0' then redis.call('EXPIRE', key, ARGV[4]) end
return 1
