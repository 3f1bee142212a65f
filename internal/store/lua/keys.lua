-- In front of every script. Every key that it touches begins with its partition's prefix, e.g. "rb:{0a}", so that all
-- are in one slot of a Redis Cluster. KEYS[2] holds the correction of Redis' clock: without a Cluster, it is of
-- partition 00.
local P = KEYS[1]
local function num(n) return string.format('%.0f', n) end
