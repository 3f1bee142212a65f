-- A limit of Claude's that an account has reached: until when no turn is started, and
-- which job's turn tries next whether it has ended. A job has one turn at a time, so its id
-- says whose try it is.
--
-- ARGV[1] account   ARGV[2] job   ARGV[3] what
-- "wait": returns how many ms until the next turn may be tried; -1 where there is no limit,
--   -2 where another job's turn is trying.
-- "try": ARGV[4] lease, ms. Returns 1 where the job's turn may try, 0 where not, 2 where
--   there is no limit.
-- "renew": ARGV[4] lease, ms.   "release": the turn said nothing of the limit.
-- "clear": the turn got through. Returns 1 where it was the one that tries.
-- "reach": ARGV[4] code   ARGV[5] message   ARGV[6] when it ends, ms since 1970, 0 for
--   unknown   ARGV[7] first pause, ms   ARGV[8] longest pause, ms   ARGV[9] longest that is
--   believed, ms   ARGV[10] after how many ms another turn tries anyway   ARGV[11] how many ms ago the turn
--   began; the version before passes none. Returns when the limit ends, 1 where the API said so, and 1 where
--   the account was at no limit before.

local key, holder, what = P .. ':limit:' .. ARGV[1], ARGV[2], ARGV[3]
local ends = tonumber(redis.call('HGET', key, 'until') or '0')
local tries_at = tonumber(redis.call('HGET', key, 'tries_at') or ends)
local trying = redis.call('HGET', key, 'job')
local lease = tonumber(redis.call('HGET', key, 'lease') or '0')
local mine = trying == holder
local is_leased = lease > NOW or GRACE > 0
local tried = trying and not mine and is_leased

local function release() redis.call('HDEL', key, 'job', 'lease') end

if what == 'wait' then
  if ends == 0 then return timed(-1) end
  if tries_at > NOW then return timed(tries_at - NOW) end
  return timed(trying and is_leased and -2 or 0)
elseif what == 'try' then
  if ends == 0 then return timed(2) end
  if tries_at > NOW or tried then return timed(0) end
  redis.call('HSET', key, 'job', holder, 'lease', num(NOW + ARGV[4]), 'began', num(NOW))
  return timed(1)
elseif what == 'renew' then
  if mine then redis.call('HSET', key, 'lease', num(NOW + ARGV[4])) end
  return timed(0)
elseif what == 'release' then
  if mine then release() end
  return timed(0)
elseif what == 'clear' then
  if not mine then return timed(0) end
  local began = redis.call('HGET', key, 'began')
  redis.call('DEL', key)
  redis.call('SREM', P .. ':limits', ARGV[1])
  if began then -- when the turn began that found no limit
    redis.call('HSET', key, 'free', began)
    redis.call('PEXPIRE', key, 86400000)
  end
  return timed(1)
end

-- What the API says is believed within bounds: clocks differ, and it may have passed.
local stated = math.min(tonumber(ARGV[6]), NOW + ARGV[9])
if stated <= NOW then stated = 0 end
local known = redis.call('HGET', key, 'stated') == '1'
if tried then -- whether it has ended is about to be known
  return timed({ math.max(ends, NOW + ARGV[7]), 0, 0 })
end
local free = tonumber(redis.call('HGET', key, 'free') or '0')
if NOW - tonumber(ARGV[11] or '0') < free then -- it may have met the limit before
  return timed({ math.max(ends, NOW), ends > NOW and known and 1 or 0, 0 })
end
if not mine and ends > NOW and stated <= ends then -- it ends there, too: turns ran at the same time
  return timed({ ends, known and 1 or 0, 0 })
end
local tries = 0
if mine then tries = redis.call('HINCRBY', key, 'tries', 1) end
local pause = math.min(ARGV[7] * 2 ^ math.min(tries, 20), tonumber(ARGV[8]))
local next_try = stated > 0 and stated or NOW + pause
if ends == 0 then redis.call('HSET', key, 'since', num(NOW)) end
redis.call('HSET', key, 'until', num(next_try), 'tries_at', num(math.min(next_try, NOW + ARGV[10])), 'stated', stated > 0 and '1' or '0', 'code', ARGV[4], 'message', ARGV[5])
release()
redis.call('PEXPIRE', key, num(next_try - NOW + 86400000))
redis.call('SADD', P .. ':limits', ARGV[1])
return timed({ next_try, stated > 0 and 1 or 0, ends == 0 and 1 or 0 })
