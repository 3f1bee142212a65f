-- A server says for ms that it uses the store, and in which format: servers of different formats must not use it at
-- the same time. Others may have a format up to the highest; '' for the same only. Returns those that may not be,
-- "<format> <name>" each: then the server is not let in.
local name, format, ms, highest = unpack(ARGV)
local servers, others = P .. ':servers', {}
if GRACE == 0 then
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', servers, '-inf', num(NOW))) do redis.call('ZREM', servers, member) end
end
for _, member in ipairs(redis.call('ZRANGE', servers, 0, -1)) do
  local its, other = string.match(member, '^(%d+) (.*)$')
  if other == name then -- itself, before a restart
    redis.call('ZREM', servers, member)
  elseif its ~= format and not (highest ~= '' and tonumber(its) <= tonumber(highest)) then
    others[#others + 1] = member
  end
end
if #others == 0 then redis.call('ZADD', servers, num(NOW + ms), format .. ' ' .. name) end
return timed(others)
