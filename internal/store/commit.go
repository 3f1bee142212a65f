package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/text/gz"
)

// Commit writes the changes and effects of a state, all or none, and once for each CommitID: if it was
// written before and only the response was lost, it returns true and changes nothing. It returns false
// if anything that was loaded has changed since. It returns Unavailable if the store failed, and also, together with
// true, if the commit was written but too few replicas confirmed what was promised.
func (s *Store) Commit(ctx context.Context, st *lifecycle.State) (bool, error) {
	c := commit{
		prefix: st.Partition, format: s.format(), now: st.Now, id: st.CommitID,
		touched: map[string]bool{}, clocked: map[string]time.Duration{},
	}
	if !st.Until.IsZero() {
		c.guards = append(c.guards, []any{"by", "", "", score(st.Until)})
	}
	for user, line := range st.Waiting.IfLoaded() {
		c.guards = append(c.guards, []any{"first", c.key("waiting", user), lineRead - 1, strings.Join(line.IDs, " ")})
	}
	for _, session := range sessionsOf(st) {
		c.session(session)
	}
	for _, e := range st.Effects {
		c.apply(e)
	}
	if r := st.Run.IfLoaded(); r != nil {
		c.run(r)
	}
	for _, j := range st.Jobs() {
		c.job(j)
	}
	for _, checkpoint := range checkpointsOf(st) {
		c.checkpoint(checkpoint, st.Job == nil && len(st.Effects) > 0)
	}
	waits := st.Durable && s.opts.Wait.Replicas > 0
	if len(c.commands)+len(c.events) == 0 && (!waits || len(c.guards) == 0) {
		return true, nil
	}
	if j := st.Job; j != nil && j.Loaded.State == "" { // a new job: its turn probably starts on this node
		s.chats.Add(j.ID, chatOf{j.UserID, j.SessionID})
	}
	if waits {
		return s.commitAndWait(ctx, &c)
	}
	return s.runCommit(ctx, &c)
}

// runCommit applies a commit, all or none. It returns false if a guard failed.
func (s *Store) runCommit(ctx context.Context, c *commit) (bool, error) {
	answer, err := s.scripts.commit.Run(ctx, s.rdb, s.keysOf(partitionAt(c.prefix)), s.commitArgs(c)...).Int64()
	return answer == 1, err
}

// commit collects the input of lua/commit.lua.
type commit struct {
	prefix                   string // prefix of every key
	format                   int    // of what is written
	now                      time.Time
	id                       string // identifies the commit; random if empty
	guards, commands, events [][]any
	// wakes are members added to zsets of times. If such a member is due, or the next to be due,
	// the nodes that wait for the zset are woken.
	wakes [][]any
	// joins are levels, users to add to their rounds, unless they are already there, and their turns.
	joins [][]any
	// unused are pairs of a set and a key; the key is deleted if the set is empty.
	unused [][]any
	// drops are messages that are no longer kept: the messages of a chat, what has changed in it, and an id.
	drops [][]any
	chats []keptChat
	// clocked are the jobs and checkpoints whose clocks are set, with the time until the latest of them is
	// due, except for those that delete something.
	clocked map[string]time.Duration
	// touched are the jobs for which data stored under their IDs changes.
	touched map[string]bool
}

// doneFor returns the time for which a commit is remembered: longer than a call lasts with all its
// retries.
func (s *Store) doneFor() time.Duration { return callTimeout + s.opts.Wait.Timeout + time.Second }

// commitArgs returns a commit in the form that the script takes.
func (s *Store) commitArgs(c *commit) []any {
	args := []any{s.past.floor(partitionAt(c.prefix)).String(), cmp.Or(c.id, rand.Text()), toMillis(s.doneFor())}
	chats := c.keptChats(s.opts.Retention)
	for i, section := range [...][][]any{c.guards, c.commands, c.wakes, c.joins, chats, c.unused, c.drops, c.events} {
		args = append(args, len(section))
		for _, words := range section {
			if i == 1 { // only commands differ in length
				args = append(args, len(words))
			}
			args = append(args, words...)
		}
	}
	return args
}

func (c *commit) key(parts ...string) string { return c.prefix + ":" + strings.Join(parts, ":") }

// under returns the key of data under a job's ID that is about to be written. It marks the job as
// touched, so that concurrent decisions on the job are retried.
func (c *commit) under(name string, id job.ID) string {
	c.touched[string(id)] = true
	return c.key(name, string(id))
}

// secretRetention is the time for which a secret is kept after it expires, by Redis' clock, which may
// jump.
const secretRetention = 24 * time.Hour

func (c *commit) do(words ...any) { c.commands = append(c.commands, words) }

// wake wakes the nodes if a member of a zset of times is due or the next to be due.
func (c *commit) wake(zset, member string) {
	c.wakes = append(c.wakes, []any{c.key(zset), member, c.key("wake"), wakeClock})
}

// is makes the commit fail if a field's value has changed.
func (c *commit) is(key, field, value string) {
	c.guards = append(c.guards, []any{"is", key, field, value})
}

func version(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// job writes the changes to a job's record.
func (c *commit) job(j *lifecycle.Job) {
	key := c.key("job", string(j.ID))
	c.is(key, "version", version(j.Version))
	if j.Deleted != nil {
		c.deleteJob(j)
		return
	}
	if j.Version == 0 && j.Loaded.State == "" {
		c.is(key, "state", "") // it does not exist yet
	}
	if wait, isSet := c.clocked[string(j.ID)]; isSet { // the job waits, or has ended
		c.keepChat(keptChat{sessionKey(j.UserID, j.SessionID), string(j.ID), wait, j.ConversationID()})
	}
	c.relist(listingsOfJob(&j.Loaded), listingsOfJob(&j.Record))
	if j.Loaded.IsQueued() && !j.IsQueued() {
		for _, line := range linesOf(j.Loaded.QueuePosition()) { // it is dequeued or has ended
			c.do("ZREM", c.key("line", line), string(j.ID))
		}
		c.do("ZREM", c.key("queued", string(j.Priority)), string(j.ID))
	}
	content, _ := changes(j.Loaded, j.Record, contentFields)
	for i := 0; i < len(content); i += 2 {
		c.do("SET", c.under(content[i].(string), j.ID), content[i+1])
	}
	set, remove := changes(withoutOwnSession(j.Loaded), withoutOwnSession(j.Record), recordFields)
	if j.Turn > j.Loaded.Turn { // a call of the turn before may have written these since: it raises no version
		remove = append(remove, "firstCallback", "toolCalls")
	}
	if len(set)+len(remove) > 0 || c.touched[string(j.ID)] {
		j.UpdatedAt, j.Version = c.now, j.Version+1
		c.write(key, append(set, "updated", score(c.now), "version", j.Version), remove)
	}
}

func (c *commit) checkpoint(p *lifecycle.Checkpoint, touched bool) {
	key := c.key("checkpoint", string(p.ID))
	c.is(key, "version", version(p.Version))
	var loaded lifecycle.Checkpoint
	if p.Loaded != nil {
		loaded = *p.Loaded
	}
	if p.Deleted {
		c.deleteCheckpoint(loaded)
		return
	}
	c.relist(listingsOfCheckpoint(&loaded), listingsOfCheckpoint(p))
	if wait, isSet := c.clocked[string(p.ID)]; isSet && p.JobID == "" { // it waits, or has ended
		c.keepChat(keptChat{sessionKey(p.UserID, p.SessionID), string(p.ID), wait, ""})
	}
	c.ask(&loaded, p)
	if set, remove := changes(loaded, *p, checkpointFields); len(set)+len(remove) > 0 || touched {
		p.Version++
		c.write(key, append(set, "version", p.Version), remove)
	}
}

func (c *commit) write(key string, set, remove []any) {
	if len(set) > 0 {
		c.do(append([]any{"HSET", key}, set...)...)
	}
	if len(remove) > 0 {
		c.do(append([]any{"HDEL", key}, remove...)...)
	}
}

// session writes the changes to a session. Decisions depend on which job is its latest, so that is
// guarded.
func (c *commit) session(s *lifecycle.Session) {
	key := c.key("session", sessionKey(s.UserID, s.ID))
	c.is(key, "job", string(s.LoadedJob))
	if s.Latest != s.LoadedLatest {
		c.is(key, "n", version(s.LoadedLatest))
	}
	if s.Latest == s.LoadedLatest && s.Job == s.LoadedJob {
		return
	}
	set, remove := changes(lifecycle.Session{Latest: s.LoadedLatest, Job: s.LoadedJob}, *s, sessionFields)
	c.write(c.chat("session", s), set, remove)
}

func checkpointsOf(st *lifecycle.State) []*lifecycle.Checkpoint {
	return distinct(append([]*lifecycle.Checkpoint{
		st.Checkpoint.IfLoaded(), st.Interpreted.IfLoaded(), st.Asked.IfLoaded(), st.Earlier.IfLoaded(),
	}, slices.Concat(st.Checkpoints, st.Allowed.IfLoaded())...))
}

func sessionsOf(st *lifecycle.State) []*lifecycle.Session {
	all := []*lifecycle.Session{st.Session.IfLoaded()}
	for _, j := range st.Jobs() {
		all = append(all, j.Session.IfLoaded())
	}
	return distinct(all)
}

// distinct returns the objects without nil and repetitions, in order.
func distinct[T any](all []*T) []*T {
	var found []*T
	for _, one := range all {
		if one != nil && !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	return found
}

func (c *commit) emit(e lifecycle.Emit) {
	event := eventHead(e.To, e.Type, e.Time) + "\n" + encodeEventData(e)
	c.events = append(c.events, []any{e.To.UserID, toMillis(e.To.Retention), event})
}

// clockMember returns the member of its set for a clock of a job or checkpoint.
func clockMember(clock lifecycle.Clock, ref string) string { return string(clock) + "|" + ref }

func score(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// text returns a value's JSON. Only our own types are stored.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error())
	}
	return string(b)
}

// apply translates an effect into commands.
func (c *commit) apply(e lifecycle.Effect) {
	switch e := e.(type) {
	case lifecycle.Emit:
		c.emit(e)
	case lifecycle.SetClock:
		c.touched[e.Ref] = true
		c.clocked[e.Ref] = max(0, c.clocked[e.Ref])
		if clockSet(e.Clock) == "deadlines" {
			c.clocked[e.Ref] = max(c.clocked[e.Ref], e.Due.Sub(c.now))
		}
		c.do("ZADD", c.key(clockSet(e.Clock)), score(e.Due), clockMember(e.Clock, e.Ref))
		c.wake(clockSet(e.Clock), clockMember(e.Clock, e.Ref))
	case lifecycle.StopClocks:
		c.touched[e.Ref] = true
		words := []any{"ZREM", c.key(clockSet(e.Clocks...))}
		for _, clock := range e.Clocks {
			words = append(words, clockMember(clock, e.Ref))
		}
		c.do(words...)
	case lifecycle.AppendAudit:
		c.do("RPUSH", c.under("audit", e.JobID), string(e.Entry))
	case lifecycle.Count:
		c.do("HINCRBY", c.key("stats"), string(e.Type)+":"+e.What, e.By)
	case lifecycle.CountSpent:
		c.do("HINCRBY", c.key("metered", string(e.JobID)), "on:"+e.Time.UTC().Format(time.DateOnly), int64(e.Cost))
	case lifecycle.CountDaily:
		key := c.key("daily", e.Time.UTC().Format(time.DateOnly))
		c.do("HINCRBY", key, string(e.Measure)+":"+e.Of, e.By)
		c.do("PEXPIRE", key, toMillis(RetainedDays*24*time.Hour))
	case lifecycle.AddTask:
		c.addTask(e)
	case lifecycle.RotateSecret:
		c.do("HSET", c.under("secret", e.JobID), "secret", string(e.Secret), "userId", e.UserID, "createdAt", score(e.Time))
	case lifecycle.KeepSecret:
		key := c.under("secret", e.JobID)
		c.do("HSET", key, "until", score(c.now.Add(e.For)))
		c.do("PEXPIRE", key, toMillis(e.For+secretRetention))
	case lifecycle.DropSecret:
		c.do("DEL", c.under("secret", e.JobID))

	// Effects on sessions.
	case lifecycle.PutMessage:
		c.putMessage(e)
	case lifecycle.TouchMessage:
		c.do("HSET", c.chat("touched", e.Session), e.ID, touchedText(e))
	case lifecycle.MoveCall:
		c.do("HSET", c.chat("touched", e.Session), callField(e.JobID, e.Call), callMoved(e))
	case lifecycle.SetCall:
		c.do("HSET", c.under("calls", e.JobID), e.Call, encodeCall(e.To))

	// Effects on the queue and worker slots.
	case lifecycle.EnqueueTurn:
		c.touched[string(e.JobID)] = true
		c.enqueue(e.QueuePosition, e.Turn)
	case lifecycle.DropEntry:
		c.do("XACK", c.key("queue", string(e.Priority)), "workers", e.Entry)
		c.do("XDEL", c.key("queue", string(e.Priority)), e.Entry)
	case lifecycle.OccupySlot:
		c.guards = append(c.guards, []any{"held", c.key("queue", string(e.Priority)), e.Entry, e.Node},
			[]any{"fewer", c.key("running", e.UserID), "", e.Limit})

	case lifecycle.AwaitSlot:
		c.guards = append(c.guards, []any{"full", c.key("running", e.UserID), "", e.Limit})

	// Effects on lists.
	case lifecycle.RememberKey:
		key := c.key("idempotency", e.UserID)
		c.is(key, e.Key, string(e.Was))
		c.do("HSET", key, e.Key, string(e.JobID))
	case lifecycle.KeepKind:
		if e.Stored {
			c.guards = append(c.guards, []any{"exists", c.key("kind", e.Version), "", ""})
		} else {
			c.do("SETNX", c.key("kind", e.Version), gz.Pack(e.Definition))
		}

	// Effects on answers, approvals and changes.
	case lifecycle.AppendAnswer:
		c.do("RPUSH", c.under("answers", e.JobID), text(e.Answer))
	case lifecycle.CopyAnswers:
		c.do("COPY", c.key("answers", string(e.From)), c.under("answers", e.JobID), "REPLACE")
	case lifecycle.AddStanding:
		c.do("HSET", c.key("standing", e.Approval.UserID), e.Approval.ID, text(e.Approval))
	case lifecycle.RemoveStanding:
		c.do("HDEL", c.key("standing", e.UserID), e.ID)
	case lifecycle.SaveChange:
		args := []any{"HSET", c.under("change", e.JobID)}
		for _, name := range slices.Sorted(maps.Keys(e.Parts)) {
			args = append(args, name, e.Parts[name])
		}
		c.do(args...)

	// Effects on batches and reports.
	case lifecycle.KeepBatch:
		c.do("HSET", c.under("batches", e.JobID), e.Index, encodeBatch(e.Batch))
	case lifecycle.DropBatches:
		c.do("DEL", c.under("batches", e.JobID))
	case lifecycle.ForgetReports:
		c.do("HDEL", c.under("job", e.JobID), "recentDigests")
	default:
		panic(fmt.Sprintf("store: %T is not translated", e)) // a test commits every effect
	}
}

// addTask adds a task. One that is running already runs again: what it was added for is newer.
func (c *commit) addTask(e lifecycle.AddTask) {
	t := Task{Kind: e.Kind, Ref: e.Ref}
	c.do("ZADD", c.key("outbox"), score(e.Time), t.member())
	c.do("HDEL", c.key("attempts"), t.member())
	if e.Notice != nil {
		c.do(noticeWords(c.key("notice", t.member()), *e.Notice, e.Time)...)
		c.do("ZADD", c.key("notices", string(e.Kind)), score(e.Time), t.member())
	}
	c.do("PUBLISH", c.key("wake"), wakeTask)
}

// maxMessages is the number of messages kept per session.
const maxMessages = 10000

func (c *commit) putMessage(e lifecycle.PutMessage) {
	messages := c.chat("messages", e.Session)
	c.do("HSET", messages, e.Message.ID, encodeMessage(e.Message))
	if old := e.Message.ID - maxMessages; old > 0 {
		c.drops = append(c.drops, []any{messages, c.chat("touched", e.Session), old})
	}
}

// chatKeys are the names of the keys of a chat apart from its session. They expire together: a message that has
// expired is no longer changed, and one that has not is shown as it is.
var chatKeys = [...]string{"messages", "touched", "asking"}

// keptChat is a chat that is written, or in which the clocks of ref are set: a job, or a checkpoint of none. For as
// long as that waits, the chat is kept, and so is the CLI's record of the job's conversation.
type keptChat struct {
	session, ref string
	wait         time.Duration
	conversation string
}

func (c *commit) keepChat(k keptChat) {
	i := slices.IndexFunc(c.chats, func(o keptChat) bool { return o.session == k.session && (o.ref == "" || k.ref == "") })
	if i < 0 {
		c.chats = append(c.chats, k)
	} else if k.ref != "" { // it was only written before
		c.chats[i] = k
	}
}

// chat returns a key of a chat that is about to be written.
func (c *commit) chat(name string, s *lifecycle.Session) string {
	session := sessionKey(s.UserID, s.ID)
	c.keepChat(keptChat{session: session})
	return c.key(name, session)
}

// keptChats returns the chats in the form that the script takes. A chat is kept for the retention after the
// latest of its clocks is due.
func (c *commit) keptChats(retention time.Duration) (all [][]any) {
	for _, chat := range c.chats {
		words := []any{c.key("session", chat.session), chat.ref, toMillis(chat.wait), toMillis(retention)}
		for _, name := range chatKeys {
			words = append(words, c.key(name, chat.session))
		}
		words = append(words, c.key("conversation", chat.conversation))
		all = append(all, words)
	}
	return all
}

// ask lists a checkpoint among those that a message of its session can answer, for as long as it waits.
func (c *commit) ask(loaded, p *lifecycle.Checkpoint) {
	if loaded.Status == "" && p.JobID != "" {
		c.do("RPUSH", c.key("asked", string(p.JobID)), string(p.ID))
	}
	in := &lifecycle.Session{UserID: p.UserID, ID: p.SessionID}
	switch {
	case p.Status.Waits() && !loaded.Status.Waits():
		c.do("ZADD", c.chat("asking", in), p.MessageID, string(p.ID))
	case loaded.Status.Waits() && !p.Status.Waits():
		c.do("ZREM", c.chat("asking", in), string(p.ID))
	}
}

// run writes the changes to a run of an action. Its lease is watched while it runs.
func (c *commit) run(r *lifecycle.Run) {
	var loaded lifecycle.Run
	if r.Loaded != nil {
		loaded = *r.Loaded
	} else {
		c.do("RPUSH", c.under("actions", r.JobID), string(r.ID))
		c.do("ZADD", c.key("acting"), score(c.now.Add(lifecycle.RunLease)), string(r.ID))
		c.wake("acting", string(r.ID))
	}
	if loaded.State == lifecycle.RunRunning && r.State != loaded.State {
		c.do("ZREM", c.key("acting"), string(r.ID))
	}
	set, remove := changes(loaded, c.asWritten(*r), runFields)
	c.write(c.key("action", string(r.ID)), set, remove)
}

// mostWords limits the words of a command: Lua passes fewer than 8,000 to a function.
const mostWords = 1000

// deleteJob removes everything stored for a job.
func (c *commit) deleteJob(j *lifecycle.Job) {
	id := string(j.ID)
	var keys []any
	for _, name := range ofJob {
		keys = append(keys, c.key(name, id))
	}
	for _, run := range j.Deleted.Runs {
		keys = append(keys, c.key("action", string(run)))
	}
	for turn := 1; turn <= j.Turn; turn++ {
		for _, name := range ofTurn {
			keys = append(keys, c.key(name, id, itoa(turn)))
		}
	}
	for some := range slices.Chunk(keys, mostWords) {
		c.do(append([]any{"DEL"}, some...)...)
	}
	for _, p := range j.Deleted.Checkpoints {
		c.deleteCheckpoint(*p.Loaded)
	}
	c.relist(listingsOfJob(&j.Loaded), nil)
	if j.IdempotencyKey != "" {
		c.do("HDEL", c.key("idempotency", j.UserID), j.IdempotencyKey)
	}
}

func (c *commit) deleteCheckpoint(p lifecycle.Checkpoint) {
	c.do("DEL", c.key("checkpoint", string(p.ID)))
	c.relist(listingsOfCheckpoint(&p), nil)
}
