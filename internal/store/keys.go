package store

import (
	"context"
	"slices"
	"strings"
)

// keyPattern describes one kind of key that the store writes. Every key begins with the prefix of
// its partition, "rb:{0a}", unless Value gives another. The braces are the hash tag, so that
// everything that one commit writes is in one slot of a Redis Cluster.
type keyPattern struct {
	// Pattern is the key after the prefix. <session> is "<length of user>:<user>:<session id>". What
	// ends with <job>, or <job>:<turn>, belongs to the job: it is deleted with the job.
	Pattern string
	// Type is Redis' name for the type of the value. If it is "… of records", each member, or each
	// value of a hash, refers to a record, and does not belong there without it.
	Type string
	// Value describes the value, with units.
	Value string
}

// keyPatterns lists all keys; a test verifies that no others exist. Times are milliseconds since
// 1970 by the store's time: see clock.go.
var keyPatterns = [...]keyPattern{
	{
		"job:<job>", "hash",
		"the job's record: lifecycle.Record; also options, activity (JSON) and recentDigests, which no rule reads",
	},
	{"input:<job>", "string", "the job's input, JSON; it may be large, and no rule reads it"},
	{"result:<job>", "string", "the job's result, JSON, likewise"},
	{"secret:<job>", "hash", "secret, userId, createdAt, and until: the callback clock"},
	{"batches:<job>", "hash", "index -> batch of a large result, see encodeBatch"},
	{
		"transcript:<job>:<turn>", "string",
		"what the CLI printed in a turn, at most TranscriptLimit bytes; by gzip once the turn has ended",
	},
	{
		"text:<job>", "string",
		"what Claude has written of the current text: job.TextEvent, JSON; kept for textLife. Pieces of it are published on text, not stored",
	},
	{"stderr:<job>:<turn>", "string", "the end of what it printed to standard error, at most StderrLimit bytes"},
	{"notes:<job>", "hash", "turn -> a line of the server's own in its transcript"},
	{
		"conversation:<uuid>", "hash",
		"the CLI's record of a conversation: at, the turn after which it was so, lifecycle.TurnName; text, its lines of JSON, by gzip",
	},
	{
		"metered:<job>", "hash",
		"turn -> what its requests have used so far, see lua/usage.lua; open -> <turn> <cost> <server's count>; …: what turns have cost at most if their requests that are out are never settled; on:<day> -> what the job has cost on a day. In billionths of a dollar",
	},
	{"asked:<job>", "list", "the job's checkpoints"},
	{
		"answers:<job>", "list",
		"the checkpoints that a person has answered, with those of the jobs whose conversation it continues, each a job.Checkpoint, JSON",
	},
	{"audit:<job>", "list", "the job's audit log, each a job.AuditEntry, JSON; each carries the digest of the one before"},
	{"calls:<job>", "hash", "tool call in the chat -> who ends it: lifecycle.Call, see encodeCall"},
	{"actions:<job>", "list", "the job's runs of actions"},
	{"action:<run>", "hash", "one run of an action: lifecycle.Run"},
	{
		"change:<job>", "hash",
		"what was captured of the job's change, JSON: diff, logs, trees, round:<n>, finalized, and in snapshot which turn's is kept",
	},
	{
		"viewed:<job>", "set",
		"what people have marked as viewed of the job's change: JSON arrays of user, key, repository and the digest of a file's change",
	},
	{
		"snapshot:<job>:<turn>", "list",
		"all that was changed up to a turn, JSON, in pieces of snapshotPiece bytes: workspace.Snapshot",
	},
	{"checkpoint:<checkpoint>", "hash", "a checkpoint: lifecycle.Checkpoint"},
	{"messages:<session>", "hash", "message id -> message: storedMessage, JSON"},
	{
		"touched:<session>", "hash",
		"message id -> when it has changed since it was written; of one that Claude has heard, behind it the turn and which tool call came next; call:<job>:<tool call> -> the message that shows it, and its state",
	},
	{"session:<session>", "hash", "lifecycle.Session"},
	{"asking:<session>", "zset", "checkpoints that a message may answer, by the id of their message"},
	{"events:<user>", "stream", "the user's events, fields f: the event, see frame.go, and p: the id of the event before, 0 for none"},
	{"seq:<user>", "string", "id of the user's latest event"},
	{
		"sign-in:<digest>", "string",
		"the key or token of a person who is signed in to the console, sealed; see internal/console/sign_in.go. In the partition of its digest",
	},
	{"latest", "string", "id of the partition's latest event; 0 before the first"},
	{"confirmed", "string", "the commit that last waited for replicas without writing anything else"},
	{"jobs", "zset of records", "jobs by when they were created, but those that read replies"},
	{"jobs:<user>", "zset of records", "one user's"},
	{"jobs-by:<state>:<kind>", "zset of records", "those of a state and kind"},
	{"jobs-by:<state>:<kind>:<user>", "zset of records", "one user's"},
	{"jobs-tagged:<tag>", "zset of records", "those with a tag, whose colons are written as %"},
	{"jobs-tagged:<tag>:<user>", "zset of records", "one user's"},
	{"kinds", "set", "kinds of which there were jobs"},
	{
		"kind:<version>", "string",
		"all that a version of a kind is parsed from, by gzip: kind.Kind.Definition. It goes with the last job that keeps the version",
	},
	{"kind-jobs:<version>", "set of records", "jobs that keep the version"},
	{"ids", "zset of records", "jobs and checkpoints, all of score 0, for looking up by how an id begins"},
	{"idempotency:<user>", "hash of records", "idempotency key -> job"},
	{"checkpoints", "zset of records", "checkpoints by when they were created"},
	{"checkpoints:<user>", "zset of records", "one user's"},
	{"checkpoints-by:<status>:<type>", "zset of records", "those of a status and type"},
	{"checkpoints-by:<status>:<type>:<user>", "zset of records", "one user's"},
	{"standing:<user>", "hash of records", "id -> standing approval: job.Approval, JSON"},
	{"line:<user>", "zset of records", "the user's jobs that wait for a worker, see positionScore"},
	{"queued:<priority>", "zset of records", "the jobs of all lines, by when they were put there"},
	{
		"round:<level>", "zset",
		"users who have jobs in their lines, in the order of their turns; one whose line is empty is dropped when its turn comes",
	},
	{"passed", "hash", "what waits in a level that others go before -> how often in a row it was passed over"},
	{
		"queue:<priority>", "stream",
		"jobs that were taken, field id: the job; consumer group workers, whose consumers are the nodes that hold them",
	},
	{"running:<user>", "set of records", "the user's jobs that hold a worker"},
	{"waiting:<user>", "zset of records", "the user's jobs over the limit, see positionScore"},
	{
		"clock", "hash",
		"by: how many ms the store's time is ahead of Redis' clock, after a jump; since when, by Redis' clock; count: how often it was corrected. Without a Cluster, partition 00 only",
	},
	{"nodes", "zset", "node -> when its heartbeat lapses"},
	{"deadlines", "zset", "<clock>|<job or checkpoint> by when it is due: lifecycle.Clock"},
	{"acting", "zset of records", "runs of actions by when their lease lapses"},
	{"lease:<deadline or run>", "string", "<when it was due that a node is firing>|<until when>"},
	{"outbox", "zset", "<kind>|<reference> of what is to be done outside, by when it is due: lifecycle.TaskKind"},
	{"attempts", "hash", "the same -> how often it was tried"},
	{
		"notice:<task>", "hash",
		"what a task is to tell the outside: body, by gzip if it is large; at, when it happened; to, the address that came with a question; of one that was tried, error; of one that waits for another try, late: when it was tried, and the receiver. It goes with the task",
	},
	{"notices:<task kind>", "zset", "tasks that notify the outside, by when they were first due"},
	{"givenup:<task kind>", "zset", "those that are tried no more, by when they were given up; kept for RETENTION"},
	{"failing", "set", "receivers of notices that did not take the last one; partition 00 only"},
	{"stats", "hash", "<type>:<what> -> count of checkpoints, see Stats"},
	{
		"daily:<day>", "hash",
		"<measure>:<kind or class> -> lifecycle.CountDaily, see Daily; kept for RetainedDays. Sums of what was: the jobs they are of may be gone, so Inspect can compare them with nothing",
	},
	{"limit:<account>", "hash", "a limit of Claude's that an account has reached, see lua/limit.lua; partition 00 only"},
	{
		"spent:<day>", "hash",
		"all, kind:<kind>, user:<user> -> what was spent on a day (UTC), in billionths of a dollar; kept for RetainedDays; partition 00 only",
	},
	{"spent-by-job:<day>", "hash", "job -> what of it is in spent:<day> already; kept for three days; partition 00 only"},
	{
		"out", "hash",
		"job -> <when it lapses> <cost> <kind> <user>: what its requests that are out cost at most, in billionths of a dollar; partition 00 only",
	},
	{"limits", "set", "the accounts; partition 00 only"},
	{
		"opening", "zset",
		"jobs that are about to be opened, in this order: lifecycle.Opening, JSON; by about when they were noted, see quota.go; partition 00 only",
	},
	{"accounts", "hash", "node -> the account of Claude's with which it starts turns; partition 00 only"},
	{"formats", "hash", "node -> the format in which it writes; partition 00 only"},
	{"servers", "zset", "<format> <name> of each server that uses the store -> when its sign of life lapses; partition 00 only"},
	{"examination", "string", "set if the store was examined lately; partition 00 only"},
	{"format", "string", "how the store's contents are written, see Format; partition 00 only"},
	{"{session id}", "set", "users who have a session of that name; under rb:session, in a slot of its own"},
}

// ofJob are the names of the keys that belong to a job, its record among them, and ofTurn of those
// that belong to a turn.
var ofJob, ofTurn = namesBefore(":<job>"), namesBefore(":<job>:<turn>")

func namesBefore(rest string) (names []string) {
	for _, k := range keyPatterns {
		if name, ok := strings.CutSuffix(k.Pattern, rest); ok {
			names = append(names, name)
		}
	}
	return names
}

// keyTypes are the types of the values, by the names of their keys.
var keyTypes = func() map[string]string {
	types := map[string]string{}
	for _, k := range keyPatterns {
		name, _, _ := strings.Cut(k.Pattern, ":")
		types[name] = k.Type
	}
	return types
}()

// typeOf returns Redis' name for the type of a value.
func typeOf(name string) string {
	typ, _, _ := strings.Cut(keyTypes[name], " ")
	return typ
}

func refersToRecords(name string) bool { return strings.HasSuffix(keyTypes[name], " of records") }

// strays are the problems reported for members that do not belong in their set, list or hash.
var strays = map[string]string{
	"acting":   "a run of an action is watched that does not run",
	"line":     "a job is queued that does not wait for a worker",
	"running":  "a worker is counted that no turn holds",
	"standing": "an approval is kept for a job that has ended",
	"waiting":  "a job is kept waiting that does not wait",
}

// Unknown returns keys of the store, and fields of its records, that are not listed: at most 100
// keys. It reads everything, and is meant for tests and for debugging.
func (s *Store) Unknown(ctx context.Context) ([]string, error) {
	var unknown []string
	keys := s.rdb.Scan(ctx, 0, "rb:*", 1000).Iterator()
	for keys.Next(ctx) && len(unknown) < 100 {
		k, ok := parseKey(keys.Val())
		switch {
		case strings.HasPrefix(keys.Val(), "rb:session:{"):
		case !ok || keyTypes[k.name] == "":
			unknown = append(unknown, keys.Val())
		case knownFields[k.name] != nil:
			fields, err := s.rdb.HKeys(ctx, k.key()).Result()
			if err != nil {
				return nil, err
			}
			for _, field := range fields {
				if !slices.Contains(knownFields[k.name], field) {
					unknown = append(unknown, k.key()+" "+field)
				}
			}
		}
	}
	return unknown, keys.Err()
}

// knownFields are the fields of records. lifecycle.Record does not have two of those in a job's hash.
var knownFields = map[string][]string{
	"job":        append(named(recordFields), "activity", "recentDigests"),
	"checkpoint": named(checkpointFields), "action": named(runFields), "session": named(sessionFields),
}

func named(fields []storedField) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}
