-- Corrects the store's time after a jump of Redis' clock.
--
-- ARGV[1] how often it had been corrected when the jump was seen   ARGV[2] by how many ms
-- Returns 1, or 0 if another node has corrected it since.

if CORRECTIONS ~= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[2], 'by', num(BY + ARGV[2]), 'count', num(CORRECTIONS + 1), 'since', num(REDIS))
return 1
