package lifecycle_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

func TestCreateTakesThePolicyOfItsKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind     string
		attempts int
		toCall   time.Duration
	}{
		"what a kind says":             {"poem", 7, 3 * time.Minute},
		"the server's where it is mum": {"plain", 3, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newJobs(t, lifecycle.Options{})
			id := s.create(request(c.kind))
			begun := time.Now()
			s.take()
			j := s.get(id)
			must.Equal(t, c.attempts, j.MaxAttempts, "attempts")
			if left := j.Deadline.Sub(begun); left < c.toCall-time.Second || left > c.toCall+10*time.Second {
				t.Errorf("a turn has %s to call back, want %s", left, c.toCall)
			}
		})
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	change := func(input map[string]any) func(*lifecycle.Request) {
		return func(r *lifecycle.Request) { r.Kind, r.ByBackEnd, r.Input = "change", false, input }
	}
	for name, c := range map[string]struct {
		change func(*lifecycle.Request)
		kind   job.ErrorKind
		says   string
	}{
		"a change of no repository":  {func(r *lifecycle.Request) { r.Kind = "change"; r.Input = map[string]any{"prompt": "x"} }, job.Invalid, "/input/repos"},
		"no kind":                    {func(r *lifecycle.Request) { r.Kind = "" }, job.Invalid, "/kind"},
		"a kind that nobody knows":   {func(r *lifecycle.Request) { r.Kind = "none" }, job.NotFound, "none"},
		"the kind that reads":        {func(r *lifecycle.Request) { r.Kind = lifecycle.InterpretingKind }, job.NotFound, "reading"},
		"an unknown stand-in":        {func(r *lifecycle.Request) { r.Options.Simulate = "x" }, job.Invalid, "/options/simulate"},
		"an unknown priority":        {func(r *lifecycle.Request) { r.Options.Priority = "x" }, job.Invalid, "/options/priority"},
		"a session in no path":       {func(r *lifecycle.Request) { r.SessionID = "a/b" }, job.Invalid, "/sessionId"},
		"an input of another shape":  {func(r *lifecycle.Request) { r.Kind = "media"; r.Input = nil }, job.Invalid, "/input"},
		"a person's stand-in":        {func(r *lifecycle.Request) { r.ByBackEnd = false; r.Options.Simulate = job.SimulateSuccess }, job.Forbidden, "options.simulate"},
		"a person's verifiers":       {change(map[string]any{"verifiers": []any{map[string]any{"name": "v", "command": "id"}}}), job.Forbidden, "verifiers"},
		"a person's path":            {change(map[string]any{"repos": []any{map[string]any{"url": "/etc"}}}), job.Forbidden, "repository"},
		"a branch that git refuses":  {change(map[string]any{"repos": []any{map[string]any{"url": "https://x.example/y"}, map[string]any{"url": "https://x.example/y", "branch": "a..b"}}}), job.Invalid, "/input/repos/1/branch"},
		"one in the short form":      {change(map[string]any{"repos": []any{"https://x.example/y#-x"}}), job.Invalid, "/input/repos/0/branch"},
		"a directory elsewhere":      {change(map[string]any{"repos": []any{map[string]any{"url": "https://x.example/y", "name": "../y"}}}), job.Invalid, "/input/repos/0/name"},
		"less than no history":       {change(map[string]any{"repos": []any{map[string]any{"url": "https://x.example/y", "depth": -1}}}), job.Invalid, "/input/repos/0/depth"},
		"a person's list of nothing": {change(map[string]any{"repos": "x"}), job.Invalid, "/input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request("plain")
			c.change(&r)
			_, err := s.Create(t.Context(), r)
			e := refusal(err)
			if e.Kind != c.kind || !strings.Contains(fmt.Sprint(e.Message, e.Details), c.says) {
				t.Errorf("it is refused as %q: %s %v", e.Kind, e.Message, e.Details)
			}
		})
	}
}

func TestWithoutCallbacksOnlyHandsPlayKindsThatNeedThem(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{Structured: true})
	r := request("ship")
	if _, err := s.Create(t.Context(), r); refusal(err).Kind != job.Conflict {
		t.Errorf("it is answered %v", err)
	}
	r.Options.Simulate = job.SimulateManual
	s.create(r)
	r.Kind = "change" // a process of the server replaces it, and its output would have to be read
	if _, err := s.Create(t.Context(), r); refusal(err).Kind != job.Conflict {
		t.Errorf("a change by hand is answered %v", err)
	}
	s.create(request("plain"))
}

func TestManyRequestsWithOneKeyMakeOneJob(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	r := request("plain")
	r.IdempotencyKey = "k"
	ids := make([]job.ID, 20)
	var callers sync.WaitGroup
	for i := range ids {
		callers.Go(func() {
			if j, err := s.Create(t.Context(), r); err == nil {
				ids[i] = j.ID
			}
		})
	}
	callers.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("one key made %q and %q", ids[0], id)
		}
	}
}
