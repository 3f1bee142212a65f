-- The grace period after an outage of the store: for as long as the outage, at most 30 s, nothing lapses, neither
-- deadlines of Claude and people nor leases of actions and servers. That is enough for callers that retry with
-- growing pauses. Each node runs a script every two seconds; if none has run for 5 s, the store was unavailable to all.
-- seen: when a script last ran, by the store's time; ends: the end of the period. Both are fields of KEYS[2].
local UNAVAILABLE, LONGEST = 5000, 30000

-- For how many ms from now on nothing lapses, usually 0; and until when, if the store was unavailable until now.
local function grace(now, seen, ends)
  local away, new = seen and now - tonumber(seen) or 0, nil
  if away > UNAVAILABLE then new = now + math.min(LONGEST, away) end
  return math.max(0, math.min(LONGEST, tonumber(new or ends or '0') - now)), new
end
