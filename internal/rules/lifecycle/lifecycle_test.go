package lifecycle_test

import (
	"encoding/json"
	"testing"
	"testing/fstest"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/redisd"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// jobs is the service on a separate store, with the kinds that these tests request in addition to
// the built-in ones.
type jobs struct {
	*lifecycle.Service
	store *store.Store
	t     *testing.T
	// redis contains the store's records.
	redis *redisd.Embedded
}

func newJobs(t *testing.T, opts lifecycle.Options) *jobs {
	t.Helper()
	own := kind.Source{Prompts: fstest.MapFS{
		"poem.md":   {Data: []byte("---\nevents: poems\npriority: batch\nmax_attempts: 7\ntimeout: 3m\n---\nWrite.")},
		"plain.md":  {Data: []byte("Do it.")},
		"change.md": {Data: []byte("---\nworkspace: {}\nreview: true\n---\nChange it.")},
		"quick.md":  {Data: []byte("---\nworkspace: {}\nreview: false\n---\nChange it.")},
	}}
	kinds := storetest.Kinds(t, kind.Builtin(), own)
	db, embedded := storetest.InProcess(t, store.Options{})
	if opts.CallbackTimeout == 0 {
		opts.CallbackTimeout = 5 * time.Minute
	}
	return &jobs{lifecycle.New(db, kinds, opts), db, t, embedded}
}

// request returns a valid request of a back end.
func request(kindName string) lifecycle.Request {
	input := map[string]any{"prompt": "x"}
	if kindName == "change" || kindName == "quick" {
		input["repos"] = []any{map[string]any{"url": "https://git.example.com/x.git"}}
	}
	return lifecycle.Request{UserID: "u1", ByBackEnd: true, Kind: kindName, SessionID: "s1", Input: input}
}

func (s *jobs) create(r lifecycle.Request) job.ID {
	s.t.Helper()
	j := must.Get(s.Create(s.t.Context(), r))(s.t)
	return j.ID
}

func (s *jobs) get(id job.ID) job.Job {
	s.t.Helper()
	return must.Get(s.store.Get(s.t.Context(), id))(s.t)
}

// take starts the next waiting turn. It returns nil if none waits.
func (s *jobs) take() *lifecycle.Turn {
	s.t.Helper()
	return (&storetest.Service{Store: s.store, Service: s.Service}).Next(s.t, "n")
}

// fail ends a job with a failure that can be retried, and then its process.
func (s *jobs) fail(id job.ID) {
	s.t.Helper()
	must.OK(s.t, s.End(s.t.Context(), id, job.Failed, job.CodeCrashed, "It broke.", lifecycle.Holder{}))
	s.exit(id)
}

// exit records the exit of a job's process, if it has one.
func (s *jobs) exit(id job.ID) {
	s.t.Helper()
	must.Get(s.EndTurn(s.t.Context(), lifecycle.TurnEnd{ID: id, Turn: s.get(id).Turn, Node: "n", Begun: true, Spoken: true}))(s.t)
}

// write adds a message of the user to the chat, for the session's latest job.
func (s *jobs) write(text string) {
	s.t.Helper()
	must.Get(s.AppendMessage(s.t.Context(), "u1", "s1", job.Text(job.FromUser, text), new(lifecycle.Addressee)))(s.t)
}

func (s *jobs) follow(id job.ID) {
	s.t.Helper()
	must.OK(s.t, s.Follow(s.t.Context(), id))
}

func (s *jobs) retry(id job.ID) {
	s.t.Helper()
	must.OK(s.t, s.Retry(s.t.Context(), id))
}

// all returns the user's jobs, newest first.
func (s *jobs) all() []job.Job {
	s.t.Helper()
	list, _, err := s.store.Jobs.List(s.t.Context(), store.Query{UserID: "u1", Limit: 100})
	must.OK(s.t, err)
	return list
}

// follower writes a message and returns the job that then continues the conversation of another.
func (s *jobs) follower(id job.ID, text string) job.ID {
	s.t.Helper()
	before := len(s.all())
	s.write(text)
	s.follow(id)
	now := s.all()
	if len(now) != before+1 {
		s.t.Fatalf("there were %d jobs and are %d", before, len(now))
	}
	for _, j := range now {
		if j.State == job.Pending {
			return j.ID
		}
	}
	s.t.Fatal("no job waits")
	return ""
}

// told returns the user's messages that a turn receives.
func told(turn *lifecycle.Turn) []string {
	texts := []string{}
	for _, m := range turn.PendingMessages {
		texts = append(texts, m.Content)
	}
	return texts
}

// refusal returns err as an error of the domain. If it is none, the result has no kind.
func refusal(err error) job.Error {
	if e, ok := err.(*job.Error); ok { //nolint:errorlint // nothing wraps them
		return *e
	}
	return job.Error{}
}

// submit accepts a result.
func (s *jobs) submit(id job.ID) lifecycle.Outcome {
	s.t.Helper()
	return must.Get(s.Accept(s.t.Context(), id, lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{}`)}))(s.t)
}
