-- In front of every script. KEYS[1] is the partition's prefix, e.g. "rb:{0a}": every key
-- that a script touches begins with it, so that all live in one Redis Cluster slot. Without a
-- Cluster, KEYS[2] is another partition's: it holds the correction of Redis' clock.
-- keys.txt lists them.

local P = KEYS[1]

local function num(n) return string.format('%.0f', n) end

