-- A round is a zset of users in the order of their turns: queue.go describes the keys.

-- The API key of a member of a round; '' for none.
local function key_of(who) return string.match(who, '^ringback:key:([^:]*):') or '' end

local function round_of(level, key) return P .. ':round:' .. level .. (key ~= '' and ':' .. key or '') end

-- Gives a user a turn at a level, and returns it: the given one, or with 0 one after all others. A user who
-- has an earlier one keeps that.
local function join(level, who, turn)
  local key = key_of(who)
  local round = round_of(level, key)
  if turn == 0 then
    local latest = redis.call('ZREVRANGE', round, 0, 0, 'WITHSCORES')[2]
    turn = math.max(NOW * 1000 + MICROS % 1000, (tonumber(latest) or 0) + 1)
  end
  local has = tonumber(redis.call('ZSCORE', round, who) or turn + 1)
  if has <= turn then turn = has else redis.call('ZADD', round, num(turn), who) end
  if key ~= '' then
    redis.call('ZADD', P .. ':payers:' .. level, 'NX', num(NOW), key) -- after those that wait already
    redis.call('ZADD', P .. ':round:' .. level, -1, who)
  end
  return turn
end
