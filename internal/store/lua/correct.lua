-- Corrects the store's time by ms after a jump of Redis' clock. seen: how often it had been corrected when the jump
-- was seen. Returns 1, or 0 if another node has corrected it since.
local seen, ms = unpack(ARGV)
if CORRECTIONS ~= tonumber(seen) then return 0 end
redis.call('HSET', KEYS[2], 'by', num(BY + ms), 'count', num(CORRECTIONS + 1), 'since', num(REDIS))
return 1
