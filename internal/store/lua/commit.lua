-- Commits what was decided, all or nothing: guards, plain commands, events. It is the one script for all transitions,
-- and knows none of them: commitArgs in commit.go lists its arguments, section by section, each with its number of
-- entries. Returns 1, also if the commit was made before: its client has lost the answer and sent it again, and others
-- may have committed in between. Returns 0 where a guard does not hold: then nothing is changed.
local at = 0
local function word()
  at = at + 1
  return ARGV[at]
end

local floor, id, remembered = tonumber(word()), word(), word()
local done = P .. ':done:' .. id
if redis.call('PEXPIRE', done, remembered) == 1 then return 1 end -- a write, for whoever waits for replicas
for _ = 1, tonumber(word()) do -- guards
  local kind, key, field, value = word(), word(), word(), word()
  if kind == 'is' then -- a field has the value; '' where there is none
    if (redis.call('HGET', key, field) or '') ~= value then return 0 end
  elseif kind == 'held' then -- a consumer has the entry of a queue
    if #redis.call('XPENDING', key, 'workers', field, field, '1', value) == 0 then return 0 end
  elseif kind == 'by' then -- it is not later
    if NOW > tonumber(value) then return 0 end
  elseif kind == 'exists' then -- the key does
    if redis.call('EXISTS', key) == 0 then return 0 end
  elseif kind == 'has' or kind == 'lacks' then -- a member, which the command that is the value reads
    local found = redis.call(value, key, field)
    if (kind == 'has') ~= (found and found ~= 0) then return 0 end
  elseif kind == 'first' then -- the first members of a zset, up to a rank
    if table.concat(redis.call('ZRANGE', key, 0, field), ' ') ~= value then return 0 end
  elseif (kind == 'full') ~= (redis.call('SCARD', key) >= tonumber(value)) then -- a set is, or holds 'fewer'
    return 0
  end
end
redis.call('SET', done, '', 'PX', remembered)
for _ = 1, tonumber(word()) do -- commands
  local n = tonumber(word())
  redis.call(unpack(ARGV, at + 1, at + n))
  at = at + n
end
for _ = 1, tonumber(word()) do -- wakes: a time of a zset is announced if it is due or the next to be due
  local zset, member, channel, what = word(), word(), word(), word()
  local due = redis.call('ZSCORE', zset, member) -- none if the same commit has removed it
  local first = redis.call('ZRANGEBYSCORE', zset, '(' .. num(NOW), '+inf', 'LIMIT', 0, 1)[1]
  if due and (first == member or tonumber(due) <= NOW) then redis.call('PUBLISH', channel, what) end
end
for _ = 1, tonumber(word()) do -- joins of rounds
  local level, who = word(), word()
  local turn = join(level, who, tonumber(word()))
  redis.call('PUBLISH', P .. ':wake', level .. ' ' .. num(turn) .. ' ' .. key_of(who))
end
for _ = 1, tonumber(word()) do -- chats that were written, or in which something waits
  local session, ref, wait, retention = word(), word(), tonumber(word()), tonumber(word())
  if ref ~= '' and wait > 0 then
    redis.call('HSET', session, 'waits:' .. ref, num(NOW + wait))
  elseif ref ~= '' then
    redis.call('HDEL', session, 'waits:' .. ref)
  end
  wait = waits_in(session)
  for _, key in ipairs({ session, word(), word(), word(), word() }) do redis.call('PEXPIRE', key, num(wait + retention)) end
end
for _ = 1, tonumber(word()) do -- keys that nothing may use any more
  local users, key = word(), word()
  if redis.call('EXISTS', users) == 0 then redis.call('DEL', key) end
end
for _ = 1, tonumber(word()) do -- messages that are dropped
  local messages, touched, dropped = word(), word(), word()
  local read, message = pcall(cjson.decode, redis.call('HGET', messages, dropped) or '{}')
  for _, part in ipairs(read and type(message.parts) == 'table' and message.parts or {}) do
    -- a call that a later message shows is dropped with that one
    local call = 'call:' .. tostring(message.requestId) .. ':' .. tostring(part.toolCallId)
    if string.match(redis.call('HGET', touched, call) or '', '^%d+') == dropped then redis.call('HDEL', touched, call) end
  end
  redis.call('HDEL', messages, dropped)
  redis.call('HDEL', touched, dropped)
end
for _ = 1, tonumber(word()) do -- events
  local user, retention, event = word(), word(), word()
  append(user, event, floor)
  for _, name in ipairs({ ':events:', ':seq:' }) do redis.call('PEXPIRE', P .. name .. user, retention) end
end
return 1
