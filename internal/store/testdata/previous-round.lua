-- A round is a zset of users in the order of their turns: in front of the scripts that need it.

-- Puts a user at the end of a round.
local function last(round, user)
  local score = redis.call('ZREVRANGE', round, 0, 0, 'WITHSCORES')[2]
  redis.call('ZADD', round, num((tonumber(score) or 0) + 1), user)
end

