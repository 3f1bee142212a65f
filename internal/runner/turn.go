package runner

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/process"
	"ringback/internal/store"
)

// turn is one process under supervision.
type turn struct {
	r   *Runner
	id  job.ID
	n   int
	job job.Job // as it was when the turn began
	// change is its work on repositories; nil for none.
	change *change
	proc   *process.Process
	out    *output

	once sync.Once
	// ended is closed when the job needs the process no more; because says why.
	ended   chan struct{}
	because job.State
	// left is closed when the server stops and leaves the process running.
	left     chan struct{}
	leftOnce sync.Once
}

// over tells that the job has ended in state.
func (t *turn) over(state job.State) {
	t.once.Do(func() {
		t.because = state
		close(t.ended)
	})
}

func (t *turn) leave() { t.leftOnce.Do(func() { close(t.left) }) }

// start runs a claimed turn in the background. It holds a worker until the
// process is gone.
func (r *Runner) start(st *store.Turn) {
	r.turns.Go(func() {
		defer func() { r.free <- struct{}{} }()
		c, err := r.changeOf(st.Job)
		if err != nil {
			r.failedToStart(st, err)
			return
		}
		if said, _ := decision(st.Answers, st.Job.ID); c != nil && said == job.Approve {
			r.runApproved(st, c)
			return
		}
		t, err := r.launch(st, c)
		switch {
		case errors.Is(err, errLeft):
		case err != nil:
			r.failedToStart(st, err)
		default:
			t.supervise()
		}
	})
}

// launch spawns the process of a turn.
func (r *Runner) launch(st *store.Turn, change *change) (*turn, error) {
	t := r.track(st.Job) // from now on its end is heard of
	t.change = change
	defer func() {
		if t.proc == nil {
			r.untrack(t)
		}
	}()
	if change != nil {
		if err := t.prepare(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	d, err := r.command(ctx, st, change)
	if err != nil {
		return nil, err
	}
	proc, err := process.Start(d)
	if proc == nil {
		return nil, err
	}
	t.runs(proc)
	if change != nil {
		t.phase(ctx, job.AtWork)
	}
	if err != nil { // it runs, but a restart could not find it again
		r.log.Warn("could not note a process", "requestId", t.id, "error", err)
	}
	r.log.Info("turn started", "requestId", t.id, "turn", t.n, "kind", t.job.Kind, "pid", proc.PID)
	return t, nil
}

func (r *Runner) track(j job.Job) *turn {
	t := &turn{r: r, id: j.ID, n: j.Turn, job: j, ended: make(chan struct{}), left: make(chan struct{})}
	r.mu.Lock()
	r.running[j.ID] = t
	r.mu.Unlock()
	return t
}

// runs says which process the turn is. It must be said before supervise.
func (t *turn) runs(proc *process.Process) {
	t.proc, t.out = proc, newOutput(t.r.store, t.job, proc.Files, t.r.secrets)
}

// phase shows people what the turn is busy with. Nothing depends on it: the turn goes
// on where the store cannot take it.
func (t *turn) phase(ctx context.Context, p job.Phase) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := t.r.store.Phase(ctx, t.id, t.n, t.r.slot.node, p); err != nil && ctx.Err() == nil {
		t.r.log.Warn("could not show a phase", "requestId", t.id, "phase", p, "error", err)
	}
}

func (r *Runner) untrack(t *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[t.id] == t {
		delete(r.running, t.id)
	}
}

// check compares the turn with the store: the job may have ended, or another
// node may have taken it over.
func (t *turn) check() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	j, err := t.r.store.Get(ctx, t.id)
	var e *job.Error
	switch {
	case errors.As(err, &e) && e.Kind == job.NotFound:
		t.over(job.Cancelled)
	case err != nil: // the store is away; the process works on
	case j.Turn != t.n:
		t.over(job.Cancelled)
	case j.State.Terminal(), j.State == job.Pending: // pending: the reply came, and the next turn waits for this one's end
		t.over(j.State)
	case j.State.Parked() && (j.Checkpoint == nil || !j.Checkpoint.Held): // Claude was told to stop
		t.over(j.State)
	}
}

// supervise watches the process until it is gone, or the server leaves it.
func (t *turn) supervise() {
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	submitted := t.lookForChange()
	for {
		select {
		case <-t.proc.Done():
			t.finish("", "")
			return
		case <-t.ended:
			t.end(t.because == job.Received || t.because.Parked())
			return
		case <-submitted:
			t.end(true)
			return
		case <-t.left:
			t.r.untrack(t)
			t.r.log.Info("left a turn to the next start", "requestId", t.id, "turn", t.n)
			return
		case <-ticker.C:
			if t.out.follow() > t.r.opts.OutputLimit {
				t.proc.Terminate(t.r.opts.Grace)
				t.finish(job.CodeOutputLimit, "Claude printed more than is allowed, so it was stopped.")
				return
			}
		}
	}
}

// end lets a process that has delivered finish by itself for a moment, so that
// what it used is known; any other is ended at once.
func (t *turn) end(delivered bool) {
	if delivered {
		select {
		case <-t.proc.Done():
		case <-t.left:
		case <-time.After(t.r.opts.Linger):
		}
	}
	t.proc.Terminate(t.r.opts.Grace)
	t.finish("", "")
}

// finish books the end of the process. code and message are given when it was
// us who ended it.
func (t *turn) finish(code job.Code, message string) {
	t.r.sweeper.Add(t.proc.Marker)
	t.proc.Kill() // children that the process left in its group
	exit, summary := t.proc.Exit(), t.out.finish()
	if code == "" {
		code, message = claude.Explain(claude.Exit{
			Known: exit.Known, Code: exit.Code, Signal: exit.Signal, Last: summary.Last, Stderr: summary.Stderr,
		})
	}
	ctx := context.Background()
	if t.r.opts.Structured && summary.Last != nil && len(summary.Last.StructuredOutput) > 0 {
		if problem := t.submit(ctx, summary.Last.StructuredOutput); problem != "" {
			code, message = job.CodeInvalidResult, problem
		}
	}
	if t.change != nil {
		err := t.capture(t.change)
		switch {
		case errors.Is(err, errLeft):
			t.r.untrack(t)
			return // the next start captures it
		case err != nil:
			t.r.log.Error("capturing a change", "requestId", t.id, "error", err)
			code, message = job.CodeWorkspace, "What was changed could not be read: "+err.Error()
		}
	}
	t.r.endTurn(store.TurnEnd{
		ID: t.id, Turn: t.n, Node: t.r.slot.node, Usage: summary.Usage, Begun: summary.Begun, Code: code, Message: message,
		Again: code != job.CodeBudget, Note: store.Note{Reason: store.Unfinished, Detail: message},
	})
	t.r.untrack(t)
	t.r.log.Info("turn ended", "requestId", t.id, "turn", t.n, "exit", exit.Code, "signal", exit.Signal,
		"took", time.Since(t.proc.Since).Round(time.Millisecond))
}

func (r *Runner) failedToStart(st *store.Turn, err error) {
	r.log.Error("a turn could not start", "requestId", st.Job.ID, "turn", st.Job.Turn, "error", err)
	code, message := job.CodeSpawnFailed, spawnMessage(r.opts.ClaudeBin, err)
	if w, ok := errors.AsType[*workspaceError](err); ok {
		code, message = job.CodeWorkspace, w.Error()
	}
	if e, ok := errors.AsType[*job.Error](err); ok {
		code, message = job.CodeKindGone, e.Message
		if e.Kind == job.Conflict {
			code, message = job.CodeNoCallbacks, e.Message+". "+e.Hint
		}
	}
	r.endTurn(store.TurnEnd{
		ID: st.Job.ID, Turn: st.Job.Turn, Node: r.slot.node, Code: code, Message: message, Again: code != job.CodeKindGone && code != job.CodeNoCallbacks,
		Note: store.Note{Reason: store.Unfinished},
	})
}

func spawnMessage(bin string, err error) string {
	reason := err.Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "it was not found"
	case errors.Is(err, fs.ErrPermission):
		reason = "it is not executable"
	}
	return "The Claude CLI could not be started (" + bin + "): " + reason + ". Check CLAUDE_BIN."
}

// endTurn books the end of a turn, however long the store is away: until then
// the store counts the turn as ours. The files of a job that has ended go.
func (r *Runner) endTurn(e store.TurnEnd) {
	e.Backoff = r.opts.Backoff
	for delay := 100 * time.Millisecond; ; delay = min(2*delay, 2*time.Second) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		state, err := r.store.EndTurn(ctx, e)
		cancel()
		var known *job.Error
		switch {
		case err == nil:
			if state.Terminal() {
				r.tidy(e.ID)
			} else {
				r.nudge() // the next attempt may be due soon
			}
			return
		case errors.As(err, &known) && known.Kind != job.Unavailable:
			r.log.Error("booking the end of a turn", "requestId", e.ID, "error", err)
			return
		case r.stopping.Load():
			return // the next start finds the turn in the store and settles it
		}
		time.Sleep(delay)
	}
}
