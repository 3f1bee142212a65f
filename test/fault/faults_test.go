package fault

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"time"

	"ringback/test/harness"
)

// fault is a fault that can be caused.
type fault struct {
	name string
	do   func()
}

// causeFaults causes faults repeatedly until ctx ends: each once, in an order that is
// shuffled again once all were caused. Those of the store come first, so that a short run
// includes them.
func (w *world) causeFaults(ctx context.Context) {
	w.shuffle(w.store.faults)
	faults := slices.Concat(w.store.faults, w.nodeFaults())
	faults = slices.DeleteFunc(faults, func(f fault) bool { return !strings.Contains(f.name, w.settings.faults) })
	for i := 0; ctx.Err() == nil; i++ {
		if i > 0 && i%len(faults) == 0 {
			w.shuffle(faults)
		}
		f := faults[i%len(faults)]
		w.faults.add(f.name)
		before := w.ended.Load()
		f.do()
		w.revive()
		w.sleep(ctx, 500)
		w.awaitProgress(ctx, before)
	}
}

// awaitProgress waits, with a timeout, until another job has ended, so that some jobs
// complete between two faults even on a slow machine.
func (w *world) awaitProgress(ctx context.Context, before int64) {
	for deadline := time.Now().Add(8 * time.Second); w.ended.Load() == before && ctx.Err() == nil && time.Now().Before(deadline); {
		w.sleep(ctx, 50)
	}
}

func (w *world) shuffle(faults []fault) {
	w.rand.Shuffle(len(faults), func(a, b int) { faults[a], faults[b] = faults[b], faults[a] })
}

// sleep waits for a random time of up to most milliseconds.
func (w *world) sleep(ctx context.Context, most int) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(w.rand.IntN(most)) * time.Millisecond):
	}
}

func (w *world) nodeFaults() []fault {
	return append(w.shortages, []fault{
		{"node killed", func() { w.stopNode(syscall.SIGKILL) }},
		{"node stopped", func() { w.stopNode(syscall.SIGTERM) }},
		{"node paused", w.pauseNode},
		{"CLI killed", func() { w.signalCLI(syscall.SIGKILL) }},
		{"CLI paused", w.pauseCLI},
		{"entry cut", w.entry.Cut},
		{"entry slow", func() { w.slow(w.entry) }},
		{"no descriptors left", w.useUpDescriptors},
		{"directory lost", w.loseDirectory},
		{"copy started", w.startCopy},
		{"notices refused", w.receiver.refuse},
		{"notices not answered", w.receiver.pause},
	}...)
}

func (w *world) stopNode(how syscall.Signal) {
	i := w.rand.IntN(len(w.env))
	w.node(i).Stop(w.t, how)
	w.sleep(w.t.Context(), 500)
	w.restart(i)
}

// revive restarts nodes that have ended, as a supervisor would.
func (w *world) revive() {
	for i := range w.env {
		select {
		case <-w.node(i).Exited():
			w.faults.add("node ended by itself")
			text := w.node(i).Log.String()
			last := text[max(0, len(text)-500):]
			if _, trace, panicked := strings.Cut(text, "\npanic:"); panicked {
				w.t.Errorf("%s: a node has ended by a panic:%.5000s", w.topology.name, trace)
			}
			w.t.Logf("%s: a node has ended by itself: …%s", w.topology.name, last)
			w.restart(i)
		default:
		}
	}
}

// pauseNode pauses a node, sometimes for longer than NODE_TIMEOUT.
func (w *world) pauseNode() {
	pid := w.node(w.rand.IntN(len(w.env))).Cmd.Process.Pid
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	w.sleep(w.t.Context(), 5000)
	wake(pid)
}

func wake(pid int) { _ = syscall.Kill(pid, syscall.SIGCONT) }

// cli returns a process of a job; 0 for none.
func (w *world) cli() int {
	pids := harness.ProcessesUnder(w.env[w.rand.IntN(len(w.env))]["DATA_DIR"] + "/nodes")
	if len(pids) == 0 {
		return 0
	}
	return pids[w.rand.IntN(len(pids))]
}

func (w *world) signalCLI(s syscall.Signal) {
	if pid := w.cli(); pid != 0 {
		_ = syscall.Kill(pid, s)
	}
}

func (w *world) pauseCLI() {
	if pid := w.cli(); pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		time.AfterFunc(time.Second, func() { wake(pid) })
	}
}

func (w *world) slow(p *harness.Proxy) {
	p.Delay(20 * time.Millisecond)
	w.sleep(w.t.Context(), 1000)
	p.Delay(0)
}

// repair undoes all faults.
func (w *world) repair() {
	w.wakeAll()
	w.revive()
	if w.store.repair != nil {
		w.store.repair()
	}
}
