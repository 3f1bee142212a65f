package review_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/outbound"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/redisd"
	"ringback/internal/store/storetest"
	"ringback/internal/turn/review"
	"ringback/internal/turn/workspace"
	"ringback/test/harness"
	"ringback/test/must"
)

// team is a node with its store, and a repository that its jobs change.
type team struct {
	t      *testing.T
	redis  *redisd.Embedded
	store  *store.Store
	jobs   *lifecycle.Service
	kinds  *kind.Registry
	people *checkpoint.Service
	flow   *review.Workflow
	remote string
}

// newTeam returns a team with the kinds of this file and own, the texts of prompts by name.
func newTeam(t *testing.T, own ...fstest.MapFS) *team {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	prompts := fstest.MapFS{
		"reviewed.md":   {Data: []byte("---\nworkspace: {}\nreview: true\nmax_attempts: 9\nverifiers: [{has: 'test -e new.txt'}]\n---\nChange it.")},
		"unreviewed.md": {Data: []byte("---\nworkspace: {}\nreview: false\nfinalize: ['echo https://example.com/pull/7']\n---\nChange it.")},
		"slow.md":       {Data: []byte("---\nworkspace: {}\nreview: true\nverifiers: [{slow: 'touch reached; sleep 1000'}]\n---\nChange it.")},
		"poem.md":       {Data: []byte("Write.")},
	}
	for _, more := range own {
		maps.Copy(prompts, more)
	}
	kinds := storetest.Kinds(t, kind.Builtin(), kind.Source{Prompts: prompts})
	db, embedded := storetest.InProcess(t, store.Options{})
	jobs := lifecycle.New(db, kinds, lifecycle.Options{CallbackTimeout: 5 * time.Minute, UserLimit: 100, HumanTimeout: time.Hour, QueueTimeout: time.Hour, Repositories: outbound.Policy{Open: true}})
	people := checkpoint.New(db, jobs, checkpoint.Options{}, quiet)
	all := &team{t: t, redis: embedded, store: db, jobs: jobs, kinds: kinds, people: people, remote: filepath.Join(t.TempDir(), "service.git")}
	all.flow = all.machine(t.TempDir())
	all.git("", "init", "--quiet", "--bare", "--initial-branch=main", all.remote)
	work := filepath.Join(t.TempDir(), "work")
	all.git("", "clone", "--quiet", all.remote, work)
	all.git(work, "-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "--allow-empty", "-m", "Begin")
	all.git(work, "push", "--quiet", "origin", "HEAD:main")
	return all
}

// machine returns the workflow of a node whose workspaces are in dir.
func (a *team) machine(dir string) *review.Workflow { return a.machineWith(dir, slog.DiscardHandler) }

// machineWith is machine with a log.
func (a *team) machineWith(dir string, log slog.Handler) *review.Workflow {
	return a.node("n", dir, log)
}

// node is machineWith for a node with another name.
func (a *team) node(name, dir string, log slog.Handler) *review.Workflow {
	root := workspace.Root{Dir: dir, Environ: os.Environ(), SnapshotLimit: 4 * limit.MiB, Requests: outbound.Policy{Open: true}}
	return review.New(a.store, a.jobs, a.people, root, name, slog.New(log))
}

func (a *team) git(dir string, args ...string) string {
	a.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// begin creates a job of a kind and returns its first turn.
func (a *team) begin(kindName string) *lifecycle.Turn {
	a.t.Helper()
	_, err := a.jobs.Create(a.t.Context(), lifecycle.Request{
		UserID: "u1", ByBackEnd: true, Kind: kindName, Input: map[string]any{"prompt": "Add a file", "repos": []any{map[string]any{"url": a.remote}}},
	})
	must.OK(a.t, err)
	return a.take()
}

// take starts the next waiting turn.
func (a *team) take() *lifecycle.Turn {
	a.t.Helper()
	turn := a.claim("n")
	if turn == nil {
		a.t.Fatal("no turn waits")
	}
	return turn
}

// claim starts the next waiting turn on a node; it returns nil if none waits.
func (a *team) claim(node string) *lifecycle.Turn {
	a.t.Helper()
	return (&storetest.Service{Store: a.store, Service: a.jobs}).Next(a.t, node)
}

// change returns a job's change on a machine.
func (a *team) change(flow *review.Workflow, j job.Job) *review.Change {
	a.t.Helper()
	k, ok := a.kinds.Get(j.Kind)
	if !ok {
		a.t.Fatalf("there is no kind %s", j.Kind)
	}
	return must.Get(flow.Change(k, j))(a.t)
}

// work does Claude's part of a turn: it writes a file and submits the change. It returns
// the change as a node finds it afterwards.
func (a *team) work(turn *lifecycle.Turn, file, text string) *review.Change {
	a.t.Helper()
	c := a.change(a.flow, turn.Job)
	must.OK(a.t, c.Prepare(a.t.Context()))
	must.OK(a.t, os.WriteFile(filepath.Join(c.Dir(), "service", file), []byte(text), 0o600))
	outcome, err := a.jobs.Accept(a.t.Context(), turn.Job.ID, lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{"summary":"Wrote it."}`)})
	if err != nil || outcome.Kind != lifecycle.Accepted {
		a.t.Fatalf("submitting: %s, %v", outcome, err)
	}
	return a.change(a.flow, a.get(turn.Job.ID))
}

// lose makes everything that a node holds another node's to continue.
func (a *team) lose(node string) {
	a.t.Helper()
	held := must.Get(a.store.Nodes.Lost(a.t.Context(), node))(a.t)
	for _, taken := range held {
		must.Get(a.jobs.LoseNode(a.t.Context(), taken))(a.t)
	}
	for p := range store.Partition(store.Partitions) {
		must.OK(a.t, (&storetest.Service{Store: a.store, Service: a.jobs}).FireDue(a.t.Context(), p))
	}
}

func (a *team) get(id job.ID) job.Job {
	a.t.Helper()
	return must.Get(a.store.Get(a.t.Context(), id))(a.t)
}

func (a *team) answers(id job.ID) []job.Checkpoint {
	a.t.Helper()
	return must.Get(a.store.Checkpoints.Answers(a.t.Context(), id))(a.t)
}

// reviewed creates a change that waits for review.
func (a *team) reviewed() job.ID {
	a.t.Helper()
	turn := a.begin("reviewed")
	a.run(a.work(turn, "new.txt", "new\n").Next(nil))
	a.endTurn(turn.Job.ID)
	return turn.Job.ID
}

// decide answers the review of a change, and returns the turn that follows.
func (a *team) decide(id job.ID, decision job.Decision, text string) *lifecycle.Turn {
	a.t.Helper()
	j := a.get(id)
	if j.Checkpoint == nil {
		a.t.Fatalf("nothing is asked, the job is %s", j.State)
	}
	must.Get(a.people.Reply(a.t.Context(), *j.Checkpoint, checkpoint.Reply{Decision: decision, Text: text}))(a.t)
	return a.take()
}

func (a *team) run(step review.Step) {
	a.t.Helper()
	if step == nil {
		a.t.Fatal("there is no step")
	}
	must.OK(a.t, step.Run(a.t.Context()))
}

// endTurn records the end of a job's turn.
func (a *team) endTurn(id job.ID) {
	a.t.Helper()
	must.Get(a.jobs.EndTurn(a.t.Context(), lifecycle.TurnEnd{ID: id, Turn: a.get(id).Turn, Node: "n", Begun: true, Spoken: true, Again: true}))(a.t)
}

// audit returns the entries of a job's audit log.
func (a *team) audit(id job.ID) []job.AuditEntry {
	a.t.Helper()
	log, _, err := a.store.Jobs.Audit(a.t.Context(), id)
	must.OK(a.t, err)
	var entries []job.AuditEntry
	for _, text := range log {
		var entry job.AuditEntry
		must.OK(a.t, json.Unmarshal(text, &entry))
		entries = append(entries, entry)
	}
	return entries
}

// finished returns the outcomes of a job's publications according to its audit log.
func (a *team) finished(id job.ID) []string {
	a.t.Helper()
	var ends []string
	for _, e := range a.audit(id) {
		if e.Event == "finished" {
			ends = append(ends, e.Action+" "+e.Outcome+" "+e.Detail)
		}
	}
	return ends
}

// asked returns how often a person was asked to review a job's change.
func (a *team) asked(id job.ID) int {
	return len(slices.DeleteFunc(a.audit(id), func(e job.AuditEntry) bool { return e.Event != "asked" }))
}

// refusePushes makes the remote reject every push, until takePushes is called.
func (a *team) refusePushes(why string) (takePushes func()) {
	a.t.Helper()
	hook := filepath.Join(a.remote, "hooks", "pre-receive")
	harness.WriteProgram(a.t, hook, []byte("#!/bin/sh\necho '"+why+"' >&2; exit 1\n"))
	return func() {
		a.t.Helper()
		must.OK(a.t, os.Remove(hook))
	}
}

// pushed returns a file on a job's branch; "" if there is none.
func (a *team) pushed(id job.ID, file string) string {
	a.t.Helper()
	if !strings.Contains(a.git(a.remote, "branch", "--list"), string(id)) {
		return ""
	}
	return a.git(a.remote, "show", "ringback/"+string(id)+":"+file)
}
