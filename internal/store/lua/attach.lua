-- Writes what belongs to a job apart from its record. Nothing is kept for a record that is gone, because nothing would
-- remove it: the store may have gone back to a time before the job, whose process still runs.
-- ms: how long it is kept, 0 for as long as the record. chat: the session of a chat, and ms count from when nothing
-- waits there any more; '' for none.
local id, command, name, ms, chat = unpack(ARGV)
if redis.call('EXISTS', P .. ':job:' .. id) == 0 then return 0 end
redis.call(command, P .. ':' .. name, unpack(ARGV, 6))
if ms ~= '0' then
  local waits = chat ~= '' and waits_in(P .. ':session:' .. chat) or 0
  redis.call('PEXPIRE', P .. ':' .. name, num(waits + ms))
end
return 1
