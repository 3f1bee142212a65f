package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/outbound"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/store"
	"ringback/internal/store/redisd"
	"ringback/internal/store/storetest"
	"ringback/internal/turn/claude"
	"ringback/internal/turn/runner"
	"ringback/test/harness"
	"ringback/test/must"
)

// farm is a store with jobs, from which nodes take them.
type farm struct {
	t     *testing.T
	redis *redisd.Embedded
	store *store.Store
	jobs  *lifecycle.Service
	kinds *kind.Registry
	// outages are those that nodes see; the tests themselves see none.
	outages outages
	// dir is the data directory of its nodes; notes is the directory that their Claude writes to.
	dir, notes string
}

var (
	storeOptions = store.Options{NodeTimeout: time.Minute}
	repositories = outbound.Policy{Open: true, Private: true}
)

func newFarm(t *testing.T) *farm {
	t.Helper()
	own := kind.Source{Prompts: fstest.MapFS{
		"poem.md":   {Data: []byte("Write.")},
		"hasty.md":  {Data: []byte("---\nstall_timeout: 2s\ntool_timeout: 5s\n---\nWrite.")},
		"change.md": {Data: []byte("---\nworkspace: {}\nreview: true\n---\nChange it.")},
	}}
	kinds := storetest.Kinds(t, kind.Builtin(), own)
	db, embedded := storetest.InProcess(t, storeOptions)
	jobs := lifecycle.New(db, kinds, lifecycle.Options{CallbackTimeout: 5 * time.Minute, UserLimit: 100, HumanTimeout: time.Hour, QueueTimeout: time.Hour, Repositories: repositories})
	f := &farm{t: t, redis: embedded, store: db, jobs: jobs, kinds: kinds, dir: t.TempDir(), notes: t.TempDir()}
	t.Cleanup(f.endStrays)
	return f
}

// endStrays ends the processes that nodes have left to the next start.
func (f *farm) endStrays() {
	for _, pid := range f.pids() {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}

// pids returns the processes of Claude that were started so far and still run.
func (f *farm) pids() (alive []int) {
	for _, pid := range process.Marked(func(marker string) bool { return strings.HasPrefix(marker, "req_") }) {
		if dir, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd")); err == nil && strings.HasPrefix(dir, f.dir) {
			alive = append(alive, pid)
		}
	}
	return alive
}

// claude writes a program that plays Claude. The program records that it has begun.
func (f *farm) claude(script string) string { return f.silentClaude(beginning, script) }

// beginning prints the CLI's first line.
const beginning = "echo '{\"type\":\"system\",\"subtype\":\"init\"}'\n"

// silentClaude writes one that prints only what first and script print.
func (f *farm) silentClaude(first, script string) string {
	f.t.Helper()
	file := filepath.Join(f.notes, "claude")
	harness.WriteProgram(f.t, file, "#!/bin/sh\n"+harness.AnswersVersion+harness.AnswersTrial+first+"echo \"$$ $*\" >> "+f.notes+"/begun\n"+script)
	return file
}

// begun returns how many processes of Claude have begun.
func (f *farm) begun() int {
	text, _ := os.ReadFile(filepath.Join(f.notes, "begun"))
	return strings.Count(string(text), "\n")
}

// node is a start of a server. stop ends it and waits until it has ended.
type node struct {
	*runner.Runner
	stop func()
}

// start starts a node. A deaf one receives no published events.
func (f *farm) start(claude string, deaf bool, change func(*runner.Options)) *node {
	f.t.Helper()
	opts := runner.Options{
		ClaudeBin: claude, Environ: os.Environ(), Dir: f.dir, Repositories: repositories, Workers: 2, CallbackBaseURL: "http://127.0.0.1:1",
		Linger: 100 * time.Millisecond, Grace: time.Second, Heartbeat: time.Hour, Backoff: 10 * time.Millisecond,
		CheckFunc: func() error { return nil },
	}
	if change != nil {
		change(&opts)
	}
	log := slog.New(slog.DiscardHandler)
	own := f.redis.Client.(*redis.Client).Options()
	client := redis.NewClient(&redis.Options{Addr: own.Addr, Password: own.Password, DisableIdentity: true})
	db := store.New(client, storetest.WithDefaults(storeOptions), log)
	client.AddHook(storetest.Hook(f.outages.call)) // after the store's own hooks, which make errors for callers of these
	jobs := lifecycle.New(db, f.kinds, lifecycle.Options{CallbackTimeout: 5 * time.Minute, UserLimit: 100, HumanTimeout: time.Hour, QueueTimeout: time.Hour, Repositories: repositories})
	r := must.Get(runner.New(db, jobs, checkpoint.New(db, jobs, checkpoint.Options{}, log), opts, log))(f.t)
	ctx, cancel := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() { r.Run(ctx, ctx) })
	if deaf {
		r.Resubscribed() // it checks for work as it starts
	} else {
		parts.Go(func() {
			db.Events.Subscribe(ctx, store.Subscriber{EventFunc: r.Event, QueuedFunc: r.Queued, ClockFunc: r.Clock, ResubscribedFunc: r.Resubscribed})
		})
	}
	stop := sync.OnceFunc(func() {
		cancel()
		parts.Wait()
		_ = client.Close()
	})
	f.t.Cleanup(stop)
	return &node{r, stop}
}

func (f *farm) create(kindName string, input map[string]any) job.ID {
	f.t.Helper()
	j := must.Get(f.jobs.Create(f.t.Context(), lifecycle.Request{UserID: "u1", ByBackEnd: true, Kind: kindName, Input: input}))(f.t)
	return j.ID
}

func (f *farm) get(id job.ID) job.Job {
	f.t.Helper()
	return must.Get(f.store.Get(f.t.Context(), id))(f.t)
}

func (f *farm) submit(id job.ID) {
	f.t.Helper()
	outcome, err := f.jobs.Accept(f.t.Context(), id, lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{"summary":"Done."}`)})
	if err != nil || outcome.Kind != lifecycle.Accepted {
		f.t.Fatalf("submitting: %s, %v", outcome, err)
	}
}

// announce publishes that a change was submitted, as the event of its phase.
func (f *farm) announce(id job.ID) {
	f.t.Helper()
	j := f.get(id)
	must.OK(f.t, f.jobs.SetPhase(f.t.Context(), id, lifecycle.Holder{Turn: j.Turn, Node: j.Node}, job.Capturing))
}

func (f *farm) eventually(what string, ok func() bool) {
	f.t.Helper()
	must.Eventually(f.t, what, ok)
}

func (f *farm) await(id job.ID, state job.State) job.Job {
	f.t.Helper()
	f.eventually("the job to be "+string(state), func() bool { return f.get(id).State == state })
	return f.get(id)
}

// repository makes a bare repository with one commit.
func (f *farm) repository() string {
	f.t.Helper()
	bare, work := filepath.Join(f.t.TempDir(), "service.git"), filepath.Join(f.t.TempDir(), "work")
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", bare},
		{"clone", "--quiet", bare, work},
		{"-C", work, "-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "--allow-empty", "-m", "Begin"},
		{"-C", work, "push", "--quiet", "origin", "HEAD:main"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			f.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return bare
}

func (f *farm) createChange() job.ID {
	f.t.Helper()
	return f.create("change", map[string]any{"prompt": "x", "repos": []any{map[string]any{"url": f.repository()}}})
}

const hang = "echo x > service/new.txt 2>/dev/null\nsleep 1000\n"

// Claude has submitted a change and does not end. The turn continues on whatever comes
// first: an event, the next heartbeat, or the next start.
func TestASubmittedChangeIsNoticed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deaf     bool
		change   func(*runner.Options)
		announce func(*farm, *node, job.ID)
	}{
		"by the event of its phase":                         {announce: func(f *farm, _ *node, id job.ID) { f.announce(id) }},
		"by a heartbeat, where the event was lost":          {deaf: true, change: func(o *runner.Options) { o.Heartbeat = 100 * time.Millisecond }},
		"by the connection that comes back":                 {announce: func(_ *farm, n *node, _ job.ID) { n.Resubscribed() }},
		"by the next start, which adopts the process":       {announce: func(f *farm, n *node, _ job.ID) { n.stop(); f.start(f.claude(hang), false, nil) }},
		"by the next start, though its process was killed":  {announce: func(f *farm, n *node, _ job.ID) { n.stop(); f.endStrays(); f.start(f.claude(hang), false, nil) }},
		"by the next start, though that hears nothing, too": {deaf: true, announce: func(f *farm, n *node, _ job.ID) { n.stop(); f.start(f.claude(hang), true, nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			id := f.createChange()
			n := f.start(f.claude(hang), c.deaf, c.change)
			f.eventually("Claude to begin", func() bool { return f.begun() == 1 && f.get(id).Phase == job.AtWork })
			f.submit(id)
			if c.announce != nil {
				c.announce(f, n, id)
			}
			if j := f.await(id, job.AwaitingApproval); j.Turn != 1 || j.Attempt != 0 || f.begun() != 1 {
				t.Errorf("it took %d turns, %d attempts and %d processes", j.Turn, j.Attempt, f.begun())
			}
			f.eventually("Claude's process to be gone", func() bool { return len(f.pids()) == 0 })
		})
	}
}

// A person who plays Claude may submit before the process is there that they replace: while
// the CLI is asked for its version.
func TestAChangeIsSubmittedBeforeTheProcessStarts(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	id := f.createChange()
	claude := filepath.Join(f.notes, "claude")
	harness.WriteProgram(t, claude, "#!/bin/sh\necho >> "+f.notes+"/begun\nexec sleep 1000")
	f.start(claude, false, nil)
	f.eventually("the version to be asked for", func() bool { return f.begun() == 1 && f.get(id).Phase == job.AtWork })
	f.submit(id)
	f.announce(id)
	if j := f.await(id, job.AwaitingApproval); j.Turn != 1 || j.Attempt != 0 || j.LastFailure != nil || f.begun() != 1 {
		t.Errorf("it took %d turns, %d attempts and %d processes; last failure: %v", j.Turn, j.Attempt, f.begun(), j.LastFailure)
	}
}

// A result that arrives before there is anything to change ends the attempt, and says why.
func TestAChangeIsSubmittedBeforeItsRepositoriesAreThere(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t) // git waits for its answer
	t.Cleanup(func() { _ = silent.Close() })
	id := f.create("change", map[string]any{"prompt": "x", "repos": []any{map[string]any{"url": "http://" + silent.Addr().String() + "/service.git"}}})
	f.start(f.claude(hang), false, nil)
	f.eventually("the clone to begin", func() bool { return f.get(id).Phase == job.Preparing })
	f.submit(id)
	f.announce(id)
	f.eventually("the next attempt", func() bool { return f.get(id).Turn == 2 })
	if failed := f.get(id).LastFailure; failed == nil || failed.ErrorCode != job.CodeWorkspace || !strings.Contains(failed.Error, "before the repositories were ready") {
		t.Errorf("the last failure is %+v", failed)
	}
}

func TestAStoppedNodeLeavesItsProcessToTheNextStart(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	id := f.create("poem", map[string]any{})
	first := f.start(f.claude(hang), false, nil)
	f.eventually("Claude to begin", func() bool { return f.begun() == 1 })
	first.stop()
	if len(f.pids()) == 0 {
		t.Fatal("the process has ended with its server")
	}
	second := f.start(f.claude(hang), false, nil)
	f.eventually("the turn to be adopted", func() bool { return second.Running() == 1 })
	must.Equal(t, first.Node(), second.Node(), "the node", "is now")
	must.OK(t, f.jobs.Cancel(t.Context(), id, job.Actor{}))
	f.eventually("the adopted process to end", func() bool { return len(f.pids()) == 0 && second.Running() == 0 })
	if j := f.get(id); j.State != job.Cancelled || j.Turn != 1 || f.begun() != 1 {
		t.Errorf("the job is %s after %d turns and %d processes", j.State, j.Turn, f.begun())
	}
}

// While the server works for jobs, the store is briefly unavailable at each call for
// them, before the call has reached it or after. The jobs are not charged for that.
func TestAStoreThatIsAwayCostsNoAttempt(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	var ids []job.ID
	for call := range 30 {
		id := f.createChange()
		f.outages.add(id, &outage{after: call / 2, calls: 3, answered: call%2 == 0})
		ids = append(ids, id)
	}
	f.start(f.claude(hang), false, func(o *runner.Options) { o.Workers = len(ids) })
	f.eventually("all to begin", func() bool { return f.begun() == len(ids) })
	for _, id := range ids {
		f.submit(id)
	}
	f.endStrays()
	for n, id := range ids {
		if j := f.await(id, job.AwaitingApproval); j.Attempt != 0 || j.Turn != 1 || j.LastFailure != nil {
			t.Errorf("away at call %d, it took %d turns and %d attempts, the last failure is %+v", n/2, j.Turn, j.Attempt, j.LastFailure)
		}
		if !f.outages.over(id) {
			t.Errorf("no call %d was made", n/2)
		}
	}
}

// While Claude is at a limit, an approved change is published, and a job of Claude's waits.
func TestAnApprovedChangeDoesNotWaitForClaude(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	n := f.start(f.claude(hang), false, nil)
	id := f.createChange()
	f.eventually("Claude to begin", func() bool { return f.begun() == 1 && f.get(id).Phase == job.AtWork })
	f.submit(id)
	f.announce(id)
	f.await(id, job.AwaitingApproval)
	f.eventually("the turn to end", func() bool { return n.Running() == 0 })
	environ := claude.Environ(os.Environ(), 0)
	account := claude.Account(environ, must.Get(claude.Login(environ))(t))
	err := f.store.Limits.Update(t.Context(), account, func(l *lifecycle.AccountLimit) {
		l.Reach("req_other", lifecycle.ReachedRateLimit{Code: job.CodeUsageLimit, ResetsAt: time.Now().Add(time.Hour)})
	})
	must.OK(t, err)
	waits := f.create("poem", map[string]any{})
	people := checkpoint.New(f.store, f.jobs, checkpoint.Options{}, slog.New(slog.DiscardHandler))
	must.Get(people.Reply(t.Context(), *f.get(id).Checkpoint, checkpoint.Reply{Decision: job.Approve}))(t)
	f.await(id, job.Received)
	if j := f.get(waits); j.State != job.Pending || f.begun() != 1 {
		t.Errorf("the other job is %s after %d processes", j.State, f.begun())
	}
	f.eventually("the worker to be free", func() bool { return n.Busy() == 0 })
}

// A turn whose repositories are ready may wait for a worker for as long as there is none.
func TestATurnThatOnlyWaitsForAWorkerIsNotGivenUp(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	bare, served := f.repository(), make(chan struct{})
	if out, err := exec.Command("git", "-C", bare, "update-server-info").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files := http.FileServer(http.Dir(bare))
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-served
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(host.Close)
	waits := f.create("change", map[string]any{"prompt": "x", "repos": []any{map[string]any{"url": host.URL + "/"}}})
	const patience = 3 * time.Second
	n := f.start(f.claude("sleep 1000\n"), false, func(o *runner.Options) { o.Workers, o.PrepareTimeout = 1, patience })
	f.eventually("the clone to begin", func() bool { return f.get(waits).Phase == job.Preparing })
	busy := f.create("poem", map[string]any{})
	f.eventually("the worker to be busy", func() bool { return f.begun() == 1 && f.get(busy).State == job.Running })
	before := f.get(waits).Deadline
	close(served)
	f.eventually("the turn to wait for a worker, with the time of a queued job", func() bool {
		return f.get(waits).Deadline.Before(before.Add(-30 * time.Minute))
	})
	waiting := time.Now()
	f.eventually("more time to pass than repositories may take", func() bool { return time.Since(waiting) > patience })
	must.OK(t, f.jobs.Cancel(t.Context(), busy, job.Actor{}))
	f.eventually("Claude to begin", func() bool { return f.begun() == 2 })
	if j := f.get(waits); j.Turn != 1 || j.LastFailure != nil || n.Stalled() != 0 {
		t.Errorf("it is in turn %d after %+v; %d were given up", j.Turn, j.LastFailure, n.Stalled())
	}
}

// A server that is killed just as a turn has ended leaves processes that escaped from
// the turn's process group. No node owns that turn any more; the next start ends the
// processes anyway, as soon as the store tells it so.
func TestWhatFledFromAnEndedTurnIsEndedByTheNextStart(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(f *farm, node string, mine job.ID){
		"at once":                           func(*farm, string, job.ID) {},
		"though the store is away at first": func(f *farm, node string, _ job.ID) { f.outages.add(job.ID(node), &outage{calls: 8}) },
		"though the store is away then":     func(f *farm, _ string, mine job.ID) { f.outages.add(mine, &outage{calls: 8}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fleeFromAnEndedTurn(t, away)
		})
	}
}

func fleeFromAnEndedTurn(t *testing.T, away func(f *farm, node string, mine job.ID)) {
	t.Helper()
	f := newFarm(t)
	other := newFarm(t)
	run := func(f *farm) (id, kept job.ID) {
		id = f.create("poem", map[string]any{})
		n := f.start(f.claude(hang), false, nil)
		f.eventually("Claude to begin", func() bool { return f.begun() == 1 })
		f.submit(id)
		f.eventually("the turn to end", func() bool { return n.Running() == 0 && len(f.pids()) == 0 })
		kept = f.create("poem", map[string]any{})
		f.eventually("Claude to begin", func() bool { return f.begun() == 2 })
		n.stop()
		return id, kept
	}
	mine, kept := run(f)
	others, _ := run(other)
	next := f.create("poem", map[string]any{}) // the next start has work at once
	flee := func(marker string) *exec.Cmd {
		cmd := exec.Command("setsid", "sleep", "1000")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), process.MarkerVar + "=" + marker}
		must.OK(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd
	}
	node := must.Get(f.store.Get(t.Context(), mine))(t).Node
	fled := []*exec.Cmd{
		flee(string(mine) + "/1/" + node), flee(string(mine) + "/1"), // and by the marker of the version before
		flee(string(kept) + "/0/" + node), // of an earlier turn of a job that continues
	}
	stay := []*exec.Cmd{
		flee(string(kept) + "/1/" + node),
		flee(string(others) + "/1"), flee("req_0_unknown/1/" + node), flee(string(mine)), flee(""),
		flee(string(mine) + "/1/node_of_a_copy"),
	}
	away(f, node, mine)
	f.start(f.claude(hang), false, func(o *runner.Options) { o.Heartbeat = 100 * time.Millisecond })
	f.eventually("the next job to begin", func() bool { return f.begun() == 3 })
	f.eventually("the processes to be ended", func() bool {
		return !slices.ContainsFunc(fled, func(cmd *exec.Cmd) bool { return process.StartTime(cmd.Process.Pid) != "" })
	})
	for _, cmd := range stay {
		if process.StartTime(cmd.Process.Pid) == "" {
			t.Errorf("%s was ended, too", cmd.Env[1])
		}
	}
	for _, id := range []job.ID{kept, next} {
		if j := f.get(id); j.Turn != 1 || j.State != job.Running {
			t.Errorf("a job that continues is %s in turn %d", j.State, j.Turn)
		}
	}
}

// A job gets the prompt of the version with which it was created, even from a node whose files
// contain another version.
func TestAJobIsToldThePromptOfItsVersion(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	id := f.create("poem", nil)
	f.kinds = storetest.Kinds(t, kind.Source{Prompts: fstest.MapFS{"poem.md": {Data: []byte("Write otherwise.")}}})
	f.start(f.claude("cat > "+f.notes+"/prompt.part\nmv "+f.notes+"/prompt.part "+f.notes+"/prompt\nsleep 1000\n"), false, nil)
	var prompt string
	f.eventually("the prompt", func() bool {
		text, err := os.ReadFile(filepath.Join(f.notes, "prompt"))
		prompt = string(text)
		return err == nil
	})
	if !strings.HasPrefix(prompt, "Write.\n") {
		t.Errorf("the prompt begins with %.40q", prompt)
	}
	f.submit(id)
}

// outage makes the store unavailable for some of the calls for a job.
type outage struct {
	// after is how many calls succeed first, and calls how many fail then.
	after, calls int
	// answered is set if the first failing call reaches the store, so that only its
	// response is lost.
	answered bool
}

// outages are those of each job.
type outages struct {
	mu  sync.Mutex
	all map[job.ID]*outage
}

var errAway = errors.New("connection refused")

func (o *outages) add(id job.ID, one *outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[job.ID]*outage{}
	}
	o.all[id] = one
}

// over reports whether a job's outage is over.
func (o *outages) over(id job.ID) bool { return o.left(id) == 0 }

// left returns how many calls for a job are yet to fail.
func (o *outages) left(id job.ID) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all[id].calls
}

// strike decides the outcome of a call.
func (o *outages) strike(cmds ...redis.Cmder) (fails, reaches bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, one := range o.all {
		if !strings.Contains(fmt.Sprint(cmds), string(id)) || one.calls == 0 {
			continue
		}
		if one.after > 0 {
			one.after--
			continue
		}
		one.calls--
		reaches, one.answered = one.answered, false
		return true, reaches
	}
	return false, true
}

// call is a storetest.Hook.
func (o *outages) call(do func() error, cmds ...redis.Cmder) error {
	fails, reaches := o.strike(cmds...)
	var err error
	if reaches {
		err = do()
	}
	if fails {
		return errAway
	}
	return err
}
