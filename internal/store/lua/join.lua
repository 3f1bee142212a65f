-- A server registers for ms, and learns the store's format. name: '' to register none. oldest, newest: the formats that
-- it reads. after: for how many ms the store stays in an older format once each server reads the newest; '' to leave it.
-- starts: 1 if the server starts.
-- The store moves in the same step that finds no server which cannot read the newest format. One that comes later finds
-- that format before it writes anything, and ends. Returns the format, and the oldest one of which records may be left.
-- A server that does not read the format is not registered.
local name, ms, oldest, newest, after, starts = unpack(ARGV)
oldest, newest, after = tonumber(oldest), tonumber(newest), tonumber(after)
local servers, finish, migrated = P .. ':servers', P .. ':finish', P .. ':migrated'
-- What is left of the time is at least HOUR when a server starts. A store without servers for a DAY starts again: those
-- of the version before may have used it.
local HOUR, DAY = 3600000, 86400000
if GRACE == 0 then
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', servers, '-inf', num(NOW))) do redis.call('ZREM', servers, member) end
end
local format = tonumber(redis.call('GET', P .. ':format') or '')
local others, behind = nil, false
for _, member in ipairs(redis.call('ZRANGE', servers, 0, -1)) do
  local its, other = string.match(member, '^(%d+) (.*)$')
  its = tonumber(its)
  local reads = tonumber(string.match(other, ' %(reads (%d+)%)$') or its)
  if string.gsub(other, ' %(reads %d+%)$', '') == name then -- itself
    redis.call('ZREM', servers, member)
  elseif not (format and its < format) then -- else it is about to end
    others = others or its
    behind = behind or reads < newest
  end
end
local isNew = not format
format = format or others or newest
if format < oldest or format > newest then return timed({ num(format), '' }) end
if isNew then
  redis.call('SET', P .. ':format', num(format))
  if format == newest then redis.call('SET', migrated, num(format)) end
elseif format < newest and behind then
  redis.call('DEL', finish)
elseif format < newest and after then
  local at, seen = string.match(redis.call('GET', finish) or '', '^(%d+) (%d+)$')
  at = seen and NOW - seen <= DAY and tonumber(at) or NOW + after
  if starts == '1' then at = math.max(at, NOW + HOUR) end
  if after == 0 or at <= NOW then
    format = newest
    redis.call('SET', P .. ':format', num(format))
    redis.call('DEL', finish)
  else
    redis.call('SET', finish, num(at) .. ' ' .. num(NOW))
  end
end
if name ~= '' then
  redis.call('ZADD', servers, num(NOW + ms), num(format) .. ' ' .. name .. ' (reads ' .. num(newest) .. ')')
end
return timed({ num(format), redis.call('GET', migrated) or '' })
