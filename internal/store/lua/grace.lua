-- What nobody could do while the store was unavailable is held against nobody. seen is when a script last ran,
-- by the store's time: each node runs one every two seconds. If none did for 5 s, the store was unavailable for
-- all of them. For as long after that, at most 30 s, nothing lapses: Claude's deadlines, people's, and the leases
-- of actions and servers. A caller that repeats its call with growing pauses comes within that time. Both are fields of
-- KEYS[2]. In front of the scripts that judge by the store's time.

local UNAVAILABLE, LONGEST = 5000, 30000

-- For how many ms from now on nothing lapses, usually 0; and until when, if the store was unavailable until now.
local function grace(now, seen, ends)
  local away, new = seen and now - tonumber(seen) or 0, nil
  if away > UNAVAILABLE then new = now + math.min(LONGEST, away) end
  return math.max(0, math.min(LONGEST, tonumber(new or ends or '0') - now)), new
end
