-- A turn's process is gone: books what it used, gives the worker back, and
-- where the job has no result yet, rings Claude again or gives up.
--
-- ARGV[1] request id     ARGV[2] turn           ARGV[3] node
-- ARGV[4] input tokens   ARGV[5] output tokens  ARGV[6] cost of the whole
--         conversation so far, USD; 0 when it is not known
-- ARGV[7] code and ARGV[8] message of what is wrong if the job is still running
-- ARGV[9] "1" when a further attempt may help   ARGV[10] delay before the
--         first, ms, doubled each time
-- ARGV[11] note for the next turn, JSON   ARGV[12] "1" when the conversation
--         was begun or resumed
-- Returns the job's state, "" when another node has the job.

local j = load_job(ARGV[1])
if not j then return '' end
if j.turn ~= tonumber(ARGV[2]) or j.owner ~= ARGV[3] then return '' end
redis.call('HINCRBY', job_key(j.id), 'inputTokens', ARGV[4])
redis.call('HINCRBY', job_key(j.id), 'outputTokens', ARGV[5])
-- A conversation that could not be resumed is lost, not an attempt: the next
-- turn gets the history in its prompt.
local lost = ARGV[12] ~= '1' and redis.call('HGET', job_key(j.id), 'begun') == '1'
local before = tonumber(redis.call('HGET', job_key(j.id), 'costBefore') or 0)
if tonumber(ARGV[6]) > 0 then redis.call('HSET', job_key(j.id), 'cost', tostring(before + tonumber(ARGV[6]))) end
if ARGV[12] == '1' then
  redis.call('HSET', job_key(j.id), 'begun', '1')
  local told = redis.call('HGET', job_key(j.id), 'told')
  if told and told ~= '0' then
    redis.call('LTRIM', P .. ':told:' .. j.id, told, -1)
    redis.call('HSET', job_key(j.id), 'told', '0')
  end
else
  redis.call('HSET', job_key(j.id), 'begun', '0')
  redis.call('HINCRBY', job_key(j.id), 'conversation', 1)
  redis.call('HSET', job_key(j.id), 'costBefore', redis.call('HGET', job_key(j.id), 'cost') or '0')
end
release(j)
j.owner = nil
unhold(j)
ring_again(j)
if j.state ~= 'running' then return j.state end

-- What Claude itself said is better than what its exit tells.
local code, message = ARGV[7], ARGV[8]
local gave_up = redis.call('HMGET', job_key(j.id), 'gaveUpTurn', 'gaveUpCode', 'gaveUp')
if gave_up[1] and tonumber(gave_up[1]) == j.turn then code, message = gave_up[2], gave_up[3] end

if lost then
  start_over(j, code, message, 0)
  return j.state
end
local attempt = redis.call('HINCRBY', job_key(j.id), 'attempt', 1)
if ARGV[9] ~= '1' or attempt >= tonumber(redis.call('HGET', job_key(j.id), 'attempts')) then
  fail(j, 'failed', code, message, message)
  return j.state
end
redis.call('HSET', job_key(j.id), 'note', ARGV[11])
start_over(j, code, message, tonumber(ARGV[10]) * 2 ^ math.min(attempt - 1, 6))
return j.state
