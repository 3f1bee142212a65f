-- What nobody could do while the store was unavailable is held against nobody. seen is when a script last ran,
-- by the store's time: each node runs one every two seconds. If none did for 5 s, the store was unavailable for
-- all of them, until back. For 30 s after that, nothing lapses: Claude's deadlines, people's, and the leases of
-- actions and servers. Both are fields of KEYS[2]. In front of the scripts that judge by the store's time.

local UNAVAILABLE, LENGTH = 5000, 30000

-- For how many ms from now on nothing lapses, usually 0, and whether the store was unavailable until now.
local function grace(now, seen, back)
  local is_back = seen and now - tonumber(seen) > UNAVAILABLE
  if is_back then back = now end
  return back and math.max(0, math.min(LENGTH, tonumber(back) + LENGTH - now)) or 0, is_back
end
