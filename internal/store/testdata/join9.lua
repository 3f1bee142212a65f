-- A server says that it uses the store, and how it writes: servers that write it in different ways
-- must not use it at the same time.
--
-- ARGV[1] name   ARGV[2] format   ARGV[3] for how many ms it counts
-- ARGV[4] format of which others may be at most; '' for the same only
-- Returns those that may not be, "<format> <name>" each: then it is not let in.

local servers, others = P .. ':servers', {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', servers, '-inf', num(NOW))) do redis.call('ZREM', servers, member) end
for _, member in ipairs(redis.call('ZRANGE', servers, 0, -1)) do
  local format, name = string.match(member, '^(%d+) (.*)$')
  if name == ARGV[1] then -- itself, before a restart
    redis.call('ZREM', servers, member)
  elseif format ~= ARGV[2] and not (ARGV[4] ~= '' and tonumber(format) <= tonumber(ARGV[4])) then
    others[#others + 1] = member
  end
end
if #others == 0 then redis.call('ZADD', servers, num(NOW + ARGV[3]), ARGV[2] .. ' ' .. ARGV[1]) end
return timed(others)
