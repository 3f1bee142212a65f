-- The keys, and how an event is appended: in front of every script.
--
-- KEYS[1] is always the partition's prefix, e.g. "rb:{0a}". Every key a script
-- touches is derived from it, so all live in one Redis Cluster slot.
--
--   <P>:job:<id>            hash    the job's record
--   <P>:secret:<id>         hash    secret, userId, createdAt; TTL = the callback clock
--   <P>:batches:<id>        hash    partial results by index
--   <P>:transcript:<id>:<n> string  what the CLI printed in turn n, capped
--   <P>:stderr:<id>:<n>     string  the end of what it printed to standard error
--   <P>:events:<user>       stream  the user's events
--   <P>:seq:<user>          string  id of the user's latest event
--   <P>:base:<user>         string  id before the user's first event
--   <P>:jobs                zset    all jobs by creation time
--   <P>:jobs:<user>         zset    one user's jobs by creation time
--   <P>:ids                 zset    ids of all jobs and checkpoints, by name, for looking up by their beginning
--   <P>:idempotency:<user>  hash    idempotency key -> request id
--   <P>:queue:<priority>    stream  turns to start; consumer group "workers"
--   <P>:running:<user>      set     the user's jobs that hold a worker
--   <P>:waiting:<user>      zset    the user's jobs over the per-user limit
--   <P>:deadlines           zset    "<clock>|<id>" by due time
--   <P>:nodes               zset    node -> when its heartbeat lapses
--   <P>:asked:<id>          list    the job's checkpoints
--   <P>:told:<id>           list    messages that the job's next turn is told: "<message id>"
--   <P>:checkpoint:<id>     hash    a checkpoint, see open_checkpoint
--   <P>:checkpoints         zset    all checkpoints by creation time
--   <P>:checkpoints:<user>  zset    one user's
--   <P>:open                zset    those of all that wait for a reply
--   <P>:open:<user>         zset    those of one user
--   <P>:messages:<session>  hash    message id -> message, JSON
--   <P>:session:<session>   hash    n = id of the latest message, job = the latest job
--   <P>:asking:<session>    zset    open checkpoints by message id
--   <P>:outbox              zset    "<kind>|<id>" of what is to be done outside, by due time
--   <P>:attempts            hash    the same -> how often it was tried
--   <P>:audit:<id>          list    the job's audit log, JSON
--   <P>:approvals:<id>      hash    what was decided on -> "<checkpoint>|<until>", until it is used; "|no" behind a no
--   <P>:calls:<id>          hash    calls of tools in the job's chat, see show_call
--   <P>:standing:<user>     hash    id -> approval of the user that goes on standing, JSON
--   <P>:standing-of:<id>    set     ids of those that go with this job
--   <P>:action:<run>        hash    job, name, subject, about, call, state, result of an action's run
--   <P>:actions:<id>        list    the job's runs of actions
--   <P>:change:<id>         hash    what was captured of the job's change: diff, logs, trees, round:<n>, finalized, snapshot
--   <P>:steers:<id>         list    steers that came while a turn was running, JSON: see enqueue_steer
--   <P>:acting              zset    runs of actions by when their lease lapses
--   <P>:stats               hash    counts of checkpoints
--
-- <session> is "<length of user>:<user>:<session id>".
--   channels <P>:events, <P>:wake

local P = KEYS[1]

local function num(n) return string.format('%.0f', n) end

local function job_key(id) return P .. ':job:' .. id end

-- What the events of a simulated job carry behind their data.
local SIMULATED = ',"simulated":true'

-- Appends one event to the user's stream and publishes it. rest is its frame
-- from behind the id.
local function append(user, id, what, rest)
  local seq_key = P .. ':seq:' .. user
  local seq = redis.call('INCR', seq_key)
  if seq == 1 then -- the first event: ids go on from the clock, so that they rise for ever
    local clock = redis.call('TIME')
    seq = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
    redis.call('SET', seq_key, num(seq))
    redis.call('SET', P .. ':base:' .. user, num(seq - 1))
  end
  local n = num(seq)
  local frame = '{"id":"' .. n .. rest
  redis.call('XADD', P .. ':events:' .. user, 'MAXLEN', '~', '10000', n .. '-0', 'f', frame)
  redis.call('PUBLISH', P .. ':events', n .. ' ' .. id .. ' ' .. what .. ' ' .. user .. '\n' .. frame)
end
