package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// maxLoads limits the retries of a read if the state changes between two rounds of reading. It
// allows for many concurrent changes to one job.
const maxLoads = 40

// Load reads what a query asks for. It returns NotFound for text that was never an ID.
func (s *Store) Load(ctx context.Context, q lifecycle.Query) (*lifecycle.State, error) {
	p, err := partitionOfQuery(q)
	if err != nil {
		return nil, err
	}
	for range maxLoads {
		l := s.newLoading(ctx, p, q)
		err := l.run()
		if errors.Is(err, errTorn) {
			// The time is random, so that readers do not keep colliding with writers.
			if err := lifecycle.Wait(ctx, rand.N(5*time.Millisecond)); err != nil { //nolint:gosec // it only spreads them
				return nil, err
			}
			continue
		}
		return l.st, err
	}
	return nil, job.Contended()
}

// errTorn is returned if a record changed while the data that it refers to was being read.
var errTorn = errors.New("the data read has changed")

// partitionOfQuery returns the partition of a query's job, checkpoint or user. Everything that one
// command is about is in one partition.
func partitionOfQuery(q lifecycle.Query) (Partition, error) {
	switch {
	case q.Job != "":
		return locate(q.Job)
	case q.Checkpoint != "":
		if p, known := partitionOfCheckpoint(q.Checkpoint); known {
			return p, nil
		}
		return 0, job.NoCheckpoint(q.Checkpoint)
	case q.UserID == "":
		return 0, job.NoJob(q.Job)
	}
	return partitionOf(q.UserID), nil
}

// loading reads a state in rounds: what one round has read determines what the next one reads. A
// round is one transaction, so that it is consistent; each further round verifies that the data
// read before is unchanged. Usually there is one round.
type loading struct {
	store *Store
	ctx   context.Context //nolint:containedctx // a loading is one call
	p     Partition
	q     lifecycle.Query
	st    *lifecycle.State

	// redisTime is the time by Redis' clock.
	redisTime time.Time
	// userRead is set once the workers of the job's user were counted.
	userRead bool

	pipe redis.Pipeliner
	// then contains the functions that process what the round has read.
	then []func() error

	// What was read already. A job or session that the state refers to twice is one object.
	jobs        map[job.ID]*lifecycle.Job
	checkpoints map[job.CheckpointID]*lifecycle.Checkpoint
	sessions    map[string]*lifecycle.Session
}

func (s *Store) newLoading(ctx context.Context, p Partition, q lifecycle.Query) *loading {
	return &loading{
		store: s, ctx: ctx, p: p, q: q, st: &lifecycle.State{Partition: p.prefix()}, pipe: s.rdb.TxPipeline(),
		jobs: map[job.ID]*lifecycle.Job{}, checkpoints: map[job.CheckpointID]*lifecycle.Checkpoint{},
		sessions: map[string]*lifecycle.Session{},
	}
}

func (l *loading) run() error {
	if l.q.Waiting {
		l.st.Waiting.Set(map[string]*lifecycle.Line{})
	}
	l.time()
	l.roots()
	for len(l.then) > 0 {
		if _, err := l.pipe.Exec(l.ctx); err != nil {
			return err
		}
		then := l.then
		l.then, l.pipe = nil, l.store.rdb.TxPipeline()
		for _, take := range then {
			if err := take(); err != nil {
				return err
			}
		}
		if len(l.then) > 0 {
			l.verify()
		}
	}
	l.store.past.sawTime(l.p, l.redisTime)
	return nil
}

// after registers a function to be called when the round has been read.
func (l *loading) after(take func() error) { l.then = append(l.then, take) }

// time reads the store's time.
func (l *loading) time() {
	at := l.store.readTime(l.ctx, l.pipe, l.p)
	l.after(func() (err error) {
		t, err := at()
		l.redisTime, l.st.Now, l.st.Grace = t.redis, t.now, t.grace
		return err
	})
}

// verify checks that what was read in earlier rounds is unchanged.
func (l *loading) verify() {
	check := func(key string, read int64) {
		now := l.pipe.HGet(l.ctx, key, "version")
		l.after(func() error {
			if now.Val() != version(read) {
				return errTorn
			}
			return nil
		})
	}
	for id, j := range l.jobs {
		check(l.p.key("job", string(id)), j.Version)
	}
	for id, c := range l.checkpoints {
		check(l.p.key("checkpoint", string(id)), c.Version)
	}
}

// roots reads what the query names.
func (l *loading) roots() {
	if l.q.Clock != "" {
		l.clock()
	}
	if l.q.Checkpoint != "" {
		l.checkpoint(l.q.Checkpoint, l.requested)
	}
	if l.q.Job != "" {
		l.job(l.q.Job, !l.q.RecordOnly, l.subject)
	}
	if l.q.SessionID != "" {
		l.session(l.q.UserID, l.q.SessionID, l.chat)
	}
	if l.q.Before != "" {
		l.job(l.q.Before, true, l.st.Before.Set)
	}
	if l.q.Interpreted != "" {
		l.checkpoint(l.q.Interpreted, l.st.Interpreted.Set)
	}
	if l.q.IdempotencyKey != "" {
		l.known()
	}
	if l.q.KindVersion != "" {
		stored := l.pipe.Exists(l.ctx, l.p.key("kind", l.q.KindVersion))
		l.after(func() error { l.st.KindStored.Set(stored.Val() > 0); return nil })
	}
	if l.q.Entry.Entry != "" {
		held := l.pipe.XPendingExt(l.ctx, pendingEntry(l.p, l.q.Entry, l.q.EntryOwner))
		l.after(func() error { l.st.EntryOwned.Set(len(held.Val()) > 0); return nil })
	}
}

func (l *loading) known() {
	known := l.pipe.HGet(l.ctx, l.p.key("idempotency", l.q.UserID), l.q.IdempotencyKey)
	l.after(func() error {
		id := job.ID(known.Val())
		l.st.Known.Set(lifecycle.KnownJob{ID: id})
		if id != "" {
			l.job(id, false, func(j *lifecycle.Job) { l.st.Known.Set(lifecycle.KnownJob{ID: id, Job: j}) })
		}
		return nil
	})
}

// chat sets the session that a command is about.
func (l *loading) chat(s *lifecycle.Session) {
	if l.st.Session.IfLoaded() == nil {
		l.st.Session.Set(s)
	}
	if !l.q.Latest {
		return
	}
	l.st.Latest.Set(nil)
	if s.Job != "" {
		l.job(s.Job, true, l.st.Latest.Set)
	}
}

// subject sets the job that a command is about, and reads what it refers to.
func (l *loading) subject(j *lifecycle.Job) {
	l.st.Job = j
	if j == nil || l.q.RecordOnly {
		return
	}
	l.session(j.UserID, j.SessionID, l.st.Session.Set)
	if l.q.Latest {
		l.session(j.UserID, j.SessionID, l.chat)
	}
	if l.q.Checkpoint == "" {
		l.st.Checkpoint.Set(nil)
		if j.Checkpoint != "" {
			l.checkpoint(j.Checkpoint, l.waitsAt)
		}
	}
	if j.Follower != "" {
		l.job(j.Follower, false, func(f *lifecycle.Job) { l.st.Follower = f })
	}
	if l.q.Question {
		l.st.Asked.Set(nil)
		if j.QuestionID != "" {
			l.checkpoint(j.QuestionID, l.st.Asked.Set)
		}
	}
	l.allowed(j)
	if l.q.Pending {
		l.pending(j)
	}
	if l.q.ApprovalKey != "" {
		l.earlier(j, l.q.ApprovalKey)
	} else if c := l.st.Checkpoint.IfLoaded(); l.q.Approvals && c != nil {
		l.earlier(j, c.ApprovalKey)
	}
}

// allowed reads the checkpoints at which people have allowed something that is not over yet.
func (l *loading) allowed(j *lifecycle.Job) {
	l.st.Allowed.Set(nil)
	for _, id := range j.AllowedAt() {
		l.checkpoint(id, l.st.AddAllowed)
	}
	if l.q.Run != "" || j.Approved() {
		l.after(func() error { l.allowedEarlier(j); return nil })
	}
}

// earlier reads the checkpoint of a job's decision about an operation.
func (l *loading) earlier(j *lifecycle.Job, key string) {
	l.st.Earlier.Set(nil)
	if d := j.Decisions[key]; d != nil {
		l.checkpoint(d.Checkpoint, l.st.Earlier.Set)
	}
}

// requested sets the checkpoint that the query names, and reads its job.
func (l *loading) requested(c *lifecycle.Checkpoint) {
	l.waitsAt(c)
	if c == nil {
		return
	}
	if c.JobID == "" {
		l.session(c.UserID, c.SessionID, l.chat)
		return
	}
	l.job(c.JobID, true, l.subject)
}

// waitsAt sets the checkpoint that a command is about, and reads the job that interprets the reply
// to it.
func (l *loading) waitsAt(c *lifecycle.Checkpoint) {
	l.st.Checkpoint.Set(c)
	if c != nil && c.Interpreter != "" {
		l.job(c.Interpreter, true, func(j *lifecycle.Job) { l.st.Interpreter = j })
	}
}

// clock reads when the requested clock expires.
func (l *loading) clock() {
	ref := cmp.Or(string(l.q.Job), string(l.q.Checkpoint))
	due := l.pipe.ZScore(l.ctx, l.p.key(clockSet(l.q.Clock)), clockMember(l.q.Clock, ref))
	l.after(func() error {
		l.st.Due.Set(time.Time{})
		if due.Val() > 0 {
			l.st.Due.Set(scoreTime(due.Val()))
		}
		return nil
	})
}

// job reads a job, if it exists. If whole is set, it also reads the data stored under its ID.
func (l *loading) job(id job.ID, whole bool, take func(*lifecycle.Job)) {
	if known := l.jobs[id]; known != nil {
		take(known)
		return
	}
	record := l.pipe.HGetAll(l.ctx, l.p.key("job", string(id)))
	j := &lifecycle.Job{Record: lifecycle.Record{ID: id}}
	if whole {
		l.around(id, j)
	}
	if whole && id == l.q.Job {
		l.underJob(id, j)
	}
	l.after(func() error {
		if known := l.jobs[id]; known != nil { // it was requested twice in this round
			take(known)
			return nil
		}
		if len(record.Val()) == 0 {
			take(nil)
			return nil
		}
		if err := l.decodeJob(id, j, record.Val()); err != nil {
			return err
		}
		l.jobs[id] = j
		if whole {
			l.running(j.UserID, j)
			l.session(j.UserID, j.SessionID, j.Session.Set)
			l.line(j.UserID)
		}
		take(j)
		return nil
	})
	if l.q.View && id == l.q.Job {
		l.view(id, j, record)
	}
}

func (l *loading) decodeJob(id job.ID, j *lifecycle.Job, h map[string]string) error {
	if err := decodeRecord(&j.Record, h); err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	j.Loaded = j.Record
	l.store.chats.Add(id, chatOf{j.UserID, j.SessionID})
	return nil
}

// around reads the data stored under a job's ID.
func (l *loading) around(id job.ID, j *lifecycle.Job) {
	text := string(id)
	secret := l.pipe.HMGet(l.ctx, l.p.key("secret", text), "secret", "until")
	calls := l.pipe.HGetAll(l.ctx, l.p.key("calls", text))
	if known, ok := l.store.chats.Get(id); ok { // it never changes: read its chat in the same round
		l.session(known.user, known.session, func(*lifecycle.Session) {})
		l.line(known.user)
		l.running(known.user, j)
	}
	l.after(func() error {
		j.Secret.Set(liveSecret(secret, l.st.Now, l.st.Grace))
		decoded := make(map[string]lifecycle.Call, len(calls.Val()))
		for call, text := range calls.Val() {
			decoded[call] = decodeCall(text)
		}
		j.Calls.Set(decoded)
		return nil
	})
}

func (l *loading) session(user, id string, take func(*lifecycle.Session)) {
	name := sessionKey(user, id)
	if known := l.sessions[name]; known != nil {
		take(known)
		return
	}
	values := l.pipe.HMGet(l.ctx, l.p.key("session", name), "n", "job")
	l.after(func() error {
		s := l.sessions[name]
		if s == nil {
			v := texts(values.Val())
			s = &lifecycle.Session{UserID: user, ID: id, Latest: int64(atoi(v[0])), Job: job.ID(v[1])}
			s.LoadedLatest, s.LoadedJob = s.Latest, s.Job
			l.sessions[name] = s
		}
		take(s)
		return nil
	})
}

func (l *loading) checkpoint(id job.CheckpointID, take func(*lifecycle.Checkpoint)) {
	if known := l.checkpoints[id]; known != nil {
		take(known)
		return
	}
	record := l.pipe.HGetAll(l.ctx, l.p.key("checkpoint", string(id)))
	l.after(func() error {
		c := l.checkpoints[id]
		if c == nil && len(record.Val()) > 0 {
			c = &lifecycle.Checkpoint{ID: id}
			if err := decodeValues(c, checkpointFields, record.Val()); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
			loaded := *c
			c.Loaded = &loaded
			l.checkpoints[id] = c
		}
		take(c)
		return nil
	})
}
