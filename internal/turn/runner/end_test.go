package runner_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/turn/runner"
	"ringback/test/must"
)

// structuredResult is the CLI's last line if results are taken from its output.
const structuredResult = `echo '{"type":"result","subtype":"success","result":"","structured_output":{"summary":"Done."}}'` + "\n"

// With USE_CALLBACK_CLAUDE=false, a result that Claude has printed is accepted once, whatever happens to the server or
// the store before that.
func TestAPrintedResultIsNotLost(t *testing.T) {
	t.Parallel()
	structured := func(o *runner.Options) { o.Structured, o.Heartbeat = true, 100*time.Millisecond }
	restart := func(f *farm, n *node, claude string, between func()) {
		n.stop()
		between()
		f.start(claude, false, structured)
	}
	cases := map[string]func(*farm, *node, string, job.ID, func()){
		"the CLI ends while no server runs": func(f *farm, n *node, claude string, _ job.ID, end func()) { restart(f, n, claude, end) },
		"the CLI ends after the next start": func(f *farm, n *node, claude string, _ job.ID, end func()) { restart(f, n, claude, func() {}); end() },
		"the store is away at the next start": func(f *farm, n *node, claude string, id job.ID, end func()) {
			restart(f, n, claude, func() {
				end()
				f.outages.add(id, &outage{after: 2, calls: 4})
			})
		},
		"the server stops while the store is away": func(f *farm, n *node, claude string, id job.ID, end func()) {
			f.outages.add(id, &outage{calls: 1000})
			end()
			restart(f, n, claude, func() { f.outages.add(id, &outage{}) })
		},
	}
	for call := range 6 {
		cases[fmt.Sprintf("the store is away at call %d of the turn's end", call)] = func(f *farm, _ *node, _ string, id job.ID, end func()) {
			f.outages.add(id, &outage{after: call / 2, calls: 3, answered: call%2 == 0})
			end()
		}
	}
	for name, happen := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			id := f.create("poem", map[string]any{})
			claude := f.claude("until [ -e " + f.notes + "/end ]; do sleep 0.02; done\n" + structuredResult)
			n := f.start(claude, false, structured)
			f.eventually("Claude to begin", func() bool { return f.begun() == 1 })
			happen(f, n, claude, id, func() {
				must.OK(t, os.WriteFile(filepath.Join(f.notes, "end"), nil, 0o600))
				f.eventually("the CLI to end", func() bool { return len(f.pids()) == 0 })
			})
			f.eventually("the turn to end", func() bool { return f.get(id).State.Terminal() || f.get(id).Turn > 1 })
			if j := f.get(id); j.State != job.Received || j.Turn != 1 || j.Attempt != 0 || f.begun() != 1 {
				t.Errorf("the job is %s after %d turns, %d attempts and %d processes; last failure: %+v", j.State, j.Turn, j.Attempt, f.begun(), j.LastFailure)
			}
		})
	}
}

// A server that stops before it has started Claude costs the job no attempt, and another node takes the job at once.
func TestAServerThatStopsBeforeClaudeStarts(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t) // git waits for its answer
	t.Cleanup(func() { _ = silent.Close() })
	id := f.create("change", map[string]any{"prompt": "x", "repos": []any{map[string]any{"url": "http://" + silent.Addr().String() + "/service.git"}}})
	first := f.start(f.claude(hang), false, nil)
	f.eventually("the clone to begin", func() bool { return f.get(id).Phase == job.Preparing })
	first.stop()
	if j := f.get(id); j.State != job.Pending || j.Attempt != 0 {
		t.Errorf("the job is %s after %d attempts", j.State, j.Attempt)
	}
	second := f.start(f.claude(hang), false, func(o *runner.Options) { o.Dir = t.TempDir() })
	f.eventually("another node to take it", func() bool { return f.get(id).Node == second.Node() && f.get(id).Phase == job.Preparing })
	if j := f.get(id); j.Turn != 2 || j.Attempt != 0 {
		t.Errorf("in turn %d, it took %d attempts", j.Turn, j.Attempt)
	}
}

// A CLI that is to resume a conversation is lost before its first line. The next one resumes the same.
func TestALostStartKeepsTheConversation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second string
		happen func(*farm, *node, string)
	}{
		"its machine goes down": {"sleep 1000", func(f *farm, n *node, claude string) {
			f.eventually("the second turn to begin", func() bool { return f.begun() == 2 })
			n.stop()
			f.endStrays()
			f.start(claude, false, nil)
		}},
		"the system has no memory left": {"kill -KILL $$", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			id := f.create("poem", map[string]any{})
			claude := f.silentClaude("[ -e "+f.notes+"/begun ] || "+beginning, "case $(wc -l < "+f.notes+"/begun) in 1) ;; 2) "+c.second+";; *) sleep 1000;; esac\n")
			n := f.start(claude, false, nil)
			if c.happen != nil {
				c.happen(f, n, claude)
			}
			f.eventually("the third turn to begin", func() bool { return f.begun() == 3 })
			if j := f.get(id); j.Turn != 3 || j.Attempt != 2 || !f.resumed() {
				t.Errorf("in turn %d, after %d attempts, all turns resumed the conversation: %v", j.Turn, j.Attempt, f.resumed())
			}
		})
	}
}

// The output of a turn that has ended is removed, also if the response to the booking of its end was lost.
func TestNoOutputIsLeftOfATurnThatHasEnded(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	var ids []job.ID
	for range 8 {
		ids = append(ids, f.create("poem", map[string]any{}))
	}
	f.start(f.claude("until [ -e "+f.notes+"/end ]; do sleep 0.02; done\nexit 1\n"), false, func(o *runner.Options) { o.Workers, o.Backoff = len(ids), time.Hour })
	f.eventually("all to begin", func() bool { return f.begun() == len(ids) })
	for call, id := range ids { // of the turn's end
		f.outages.add(id, &outage{after: call, calls: 1, answered: true})
	}
	must.OK(t, os.WriteFile(filepath.Join(f.notes, "end"), nil, 0o600))
	for _, id := range ids {
		f.eventually("the turn to end", func() bool { return f.get(id).Attempt == 1 })
		f.eventually("its output to be removed", func() bool {
			return len(must.Get(filepath.Glob(filepath.Join(f.dir, "nodes/*/jobs", string(id), "turn-1.*")))(t)) == 0
		})
	}
}

// A server that settles what an earlier start has left ends when it is told to, whatever the store does.
func TestAStartThatSettlesATurnCanBeStopped(t *testing.T) {
	t.Parallel()
	for call := range 4 {
		f := newFarm(t)
		id := f.create("poem", map[string]any{})
		claude := f.claude("until [ -e " + f.notes + "/end ]; do sleep 0.02; done\n" + speech + "exit 1\n")
		first := f.start(claude, false, nil)
		f.eventually("Claude to begin", func() bool { return f.begun() == 1 })
		first.stop()
		must.OK(t, os.WriteFile(filepath.Join(f.notes, "end"), nil, 0o600))
		f.eventually("the CLI to end", func() bool { return len(f.pids()) == 0 })
		f.outages.add(id, &outage{after: call, calls: 1000})
		second := f.start(claude, false, func(o *runner.Options) { o.Heartbeat = 100 * time.Millisecond })
		f.eventually("the store to be missed", func() bool { return f.outages.left(id) < 999 })
		begun := time.Now()
		second.stop()
		if took := time.Since(begun); took > 8*time.Second {
			t.Errorf("away at call %d, it ends after %s", call, took)
		}
		f.outages.add(id, &outage{})
		f.start(claude, false, nil)
		f.eventually("the turn to end", func() bool { return f.get(id).Attempt == 1 })
	}
}
