-- A server says that it uses the store, and how it writes: servers that write it in different ways
-- must not use it at the same time.
--
-- ARGV[1] name   ARGV[2] format   ARGV[3] for how many ms it counts
-- ARGV[4] format of which others may be at most; '' for the same only
-- Returns those that may not be, "<format> <name>" each: then it is not let in. Nodes that say
-- nothing of it are of format 0.

local servers, others = P .. ':servers', {}
local function see(format, name)
  local goes = format == ARGV[2] or ARGV[4] ~= '' and tonumber(format) <= tonumber(ARGV[4])
  if not goes then others[#others + 1] = format .. ' ' .. name end
end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', servers, '-inf', num(NOW))) do redis.call('ZREM', servers, member) end
for _, member in ipairs(redis.call('ZRANGE', servers, 0, -1)) do
  local format, name = string.match(member, '^(%d+) (.*)$')
  if name == ARGV[1] then -- itself, before a restart
    redis.call('ZREM', servers, member)
  else
    see(format, name)
  end
end
for _, node in ipairs(redis.call('ZRANGEBYSCORE', P .. ':nodes', '(' .. num(NOW), '+inf')) do
  if not redis.call('HGET', P .. ':formats', node) then see('0', node) end
end
if #others == 0 then redis.call('ZADD', servers, num(NOW + ARGV[3]), ARGV[2] .. ' ' .. ARGV[1]) end
return timed(others)
