package checkpoint_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// people is the service on a separate store, with one chat of one user.
type people struct {
	*checkpoint.Service
	t     *testing.T
	store *store.Store
	jobs  *lifecycle.Service
	redis redis.UniversalClient
}

// The chat of all these tests.
const user, session = "u1", "s1"

// newPeople returns a service. Without claude, unclear replies are not interpreted.
func newPeople(t *testing.T, claude bool) *people {
	t.Helper()
	return newService(t, claude, time.Hour)
}

// newPeopleHolding returns a service whose calls wait at most hold.
func newPeopleHolding(t *testing.T, hold time.Duration) *people {
	t.Helper()
	return newService(t, false, hold)
}

func newService(t *testing.T, claude bool, hold time.Duration) *people {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	sources := []kind.Source{{Prompts: fstest.MapFS{"poem.md": {Data: []byte("Write.")}}}}
	if claude {
		sources = append(sources, kind.Builtin())
	}
	kinds := storetest.Kinds(t, sources...)
	db, embedded := storetest.InProcess(t, store.Options{})
	jobs := lifecycle.New(db, kinds, lifecycle.Options{CallbackTimeout: 5 * time.Minute, UserLimit: 100, HumanTimeout: time.Hour, QueueTimeout: time.Hour})
	s := checkpoint.New(db, jobs, checkpoint.Options{Hold: hold}, quiet)
	go db.Events.Subscribe(t.Context(), store.Subscriber{EventFunc: s.Event, ResubscribedFunc: s.Resubscribed})
	return &people{s, t, db, jobs, embedded.Client}
}

// begin creates a job and starts its turn.
func (p *people) begin() job.ID {
	p.t.Helper()
	j := must.Get(p.jobs.Create(p.t.Context(), lifecycle.Request{UserID: user, SessionID: session, ByBackEnd: true, Kind: "poem", Input: map[string]any{}}))(p.t)
	if started := p.take(); started != j.ID {
		p.t.Fatalf("the turn of %s was started", started)
	}
	return j.ID
}

// take starts the next waiting turn and returns its job.
func (p *people) take() job.ID {
	p.t.Helper()
	turn := (&storetest.Service{Store: p.store, Service: p.jobs}).Next(p.t, "n")
	if turn == nil {
		p.t.Fatal("no turn waits")
	}
	return turn.Job.ID
}

// question is a question that a job asks.
type question struct {
	kind    job.CheckpointType
	message string
	props   string
}

// ask has a running job ask a question and park there. composed are the parts of a question that the
// server composes.
func (p *people) ask(id job.ID, q question, composed ...job.Segment) job.Checkpoint {
	p.t.Helper()
	return p.asking(id, q, false, composed...)
}

func (p *people) asking(id job.ID, q question, hold bool, composed ...job.Segment) job.Checkpoint {
	p.t.Helper()
	r := checkpoint.Request{
		RequestID: id, UserID: user, SessionID: session, Type: q.kind, Message: q.message, Props: json.RawMessage(q.props), Hold: hold, MaxIterations: 2,
	}
	if composed != nil {
		r.Asked = &job.Asked{Segments: composed}
	}
	outcome, asked, err := p.Ask(p.t.Context(), r)
	if err != nil || outcome.Kind != lifecycle.Accepted {
		p.t.Fatalf("asking: %s, %v", outcome, err)
	}
	return p.checkpoint(asked.ID)
}

func (p *people) checkpoint(id job.CheckpointID) job.Checkpoint {
	p.t.Helper()
	return must.Get(p.store.Checkpoints.Get(p.t.Context(), id))(p.t)
}

func (p *people) state(id job.ID) job.State {
	p.t.Helper()
	j := must.Get(p.store.Get(p.t.Context(), id))(p.t)
	return j.State
}

// kindOf returns the kind of an error and the path of its first detail.
func kindOf(err error) (kind job.ErrorKind, path string) {
	e, ok := errors.AsType[*job.Error](err)
	if !ok {
		return "", ""
	}
	if len(e.Details) > 0 {
		path = e.Details[0].Path
	}
	return e.Kind, path
}

// The questions of these tests.
var (
	deploy = question{job.Confirmation, "Deploy shop to production?", `{"title":"Deploy"}`}
	call   = question{job.ToolApproval, "May Claude run git push?", `{"tool_name":"Bash","rule":"Bash(git push*)"}`}
	ratio  = question{job.ErrorRecovery, "The ratio 5:4 is not supported.", `{"error_field":"aspect_ratio","current_value":"5:4","valid_values":["16:9","1:1"]}`}
	size   = question{job.ErrorRecovery, "The width 0 is not supported.", `{"error_field":"width","current_value":0}`}
	film   = question{job.FormRequirements, "Which format, and how long?", `{"schema":{"type":"object","required":["format","seconds"],"properties":{"format":{"type":"string","enum":["mp4","webm"]},"seconds":{"type":"integer","maximum":60}}}}`}
	trip   = question{job.FormRequirements, "Where to?", `{"current_values":{"city":"Rome","note":"by train"},"schema":{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"note":{"type":"string"}}}}`}
	order  = question{job.InformationRequest, "What about the order?", `{"schema":{"type":"object","properties":{"order":{"type":"string","enum":["cancel","retry"]}},"required":["order"]}}`}
	colour = question{job.InformationRequest, "Which colour?", `{"valid_values":["red","blue"]}`}
	title  = question{job.InformationRequest, "Which title?", `{"schema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}`}
	free   = question{job.InformationRequest, "What should the title say?", ``}
	change = question{job.Review, "Two files were changed.", `{"iteration":1,"max_iterations":2,"trees":{"shop":"abc"}}`}
	last   = question{job.Review, "Two files were changed.", `{"iteration":2,"max_iterations":2}`}
)
