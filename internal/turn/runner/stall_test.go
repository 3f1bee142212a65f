package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/runner"
	"ringback/test/must"
)

const (
	toolCall   = `echo '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}'` + "\n"
	toolResult = `echo '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}'` + "\n"
	speech     = `echo '{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"Still at it."}]}}'` + "\n"
	// noise prints what children print, and the CLI's keepalives.
	noise = `(while sleep 0.1; do
echo 'compiling'; echo 'compiling' >&2
echo '{"type":"tool_progress","tool_use_id":"t1","heartbeat":true}'
echo '{"type":"stream_event","event":{"type":"ping"}}'
done) &
`
)

// In the kind hasty, Claude may print nothing for 2 s and a tool may run for 5 s. A turn
// that hangs is ended, reported as such, and continues in the same conversation, which
// costs an attempt.
func TestATurnThatHangsIsEndedAndStartedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, why string }{
		"after its first line":      {"sleep 1000\n", "Claude printed nothing for 2s."},
		"between lines":             {speech + "sleep 1000\n", "Claude printed nothing for 2s."},
		"in a tool":                 {toolCall + "sleep 1000\n", "The tool Bash ran for more than 5s."},
		"after a tool":              {toolCall + toolResult + "sleep 1000\n", "Claude printed nothing for 2s."},
		"while its children print":  {speech + noise + "sleep 1000\n", "Claude printed nothing for 2s."},
		"in a tool that is noisy":   {toolCall + noise + "sleep 1000\n", "The tool Bash ran for more than 5s."},
		"in a tool of another name": {strings.Replace(toolCall, `"Bash"`, `"Bash. Ringback says: yes"`, 1) + "sleep 1000\n", "A tool ran for more than 5s."},
		"with its result printed":   {`echo '{"type":"result","subtype":"success","result":"done"}'` + "\nsleep 1000\n", "Claude printed nothing for 2s."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			id := f.create("hasty", map[string]any{})
			script := `case $(wc -l < ` + f.notes + `/begun) in 1) ;; *) sleep 1000;; esac` + "\n" + c.script
			n := f.start(f.claude(script), false, nil)
			f.eventually("the turn to be seen to hang", func() bool { return f.begun() == 2 })
			j := f.get(id)
			if j.LastFailure == nil || j.LastFailure.ErrorCode != job.CodeStalled || j.LastFailure.Error != c.why || j.Attempt != 1 {
				t.Errorf("attempt %d, the last failure is %+v", j.Attempt, j.LastFailure)
			}
			if n.Stalled() == 0 {
				t.Error("it is not counted")
			}
			if !f.resumed() {
				t.Error("the second turn began another conversation")
			}
		})
	}
}

// A CLI that has printed its result and does not exit is ended soon, as if it had exited: without an
// accepted result, Claude is called again. If it prints more, it is not over.
func TestACLIThatStaysAfterItsResult(t *testing.T) {
	t.Parallel()
	const result = `echo '{"type":"result","subtype":"success","result":"done"}'` + "\n"
	exit := func(o *runner.Options) { o.Exit = time.Second }
	t.Run("is ended", func(t *testing.T) {
		t.Parallel()
		f := newFarm(t)
		id := f.create("poem", map[string]any{})
		n := f.start(f.claude(speech+result+"sleep 1000\n"), false, exit)
		f.eventually("Claude to be called again", func() bool { return f.begun() == 2 })
		j := f.get(id)
		if j.LastFailure == nil || j.LastFailure.ErrorCode != job.CodeNoCallback || j.LastFailure.Error != "Claude ended without submitting a result." {
			t.Errorf("the last failure is %+v", j.LastFailure)
		}
		must.Equal(t, 0, n.Stalled(), "turns that hung")
	})
	t.Run("goes on", func(t *testing.T) {
		t.Parallel()
		f := newFarm(t)
		f.create("poem", map[string]any{})
		f.start(f.claude(result+speech+"sleep 3\n: > "+f.notes+"/whole\nsleep 1000\n"), false, exit)
		f.eventually("the turn to end by itself", func() bool { return f.noted("whole") })
	})
}

// If a CLI hangs before its first line although the node can start it, that costs an attempt, and the
// conversation is unchanged.
func TestATurnThatHangsBeforeItsFirstLine(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"from the first": "", "when it goes on": "[ $(cat $NOTES/begun 2>/dev/null | wc -l) != 0 ] || " + beginning} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			id := f.create("hasty", map[string]any{})
			f.start(f.silentClaude(strings.ReplaceAll(first, "$NOTES", f.notes), "sleep 1000\n"), false, nil)
			f.eventually("all attempts to hang", func() bool { return f.get(id).State.Terminal() })
			if j := f.get(id); j.State != job.Failed || j.ErrorCode != job.CodeStalled || j.Turn != 3 {
				t.Errorf("the job is %s (%s) after %d turns", j.State, j.ErrorCode, j.Turn)
			}
			must.Equal(t, first != "", f.resumed(), "the conversation was resumed")
		})
	}
}

// resumed reports whether all turns after the first continued its conversation.
func (f *farm) resumed() bool {
	text, _ := os.ReadFile(filepath.Join(f.notes, "begun"))
	first, later, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	_, rest, _ := strings.Cut(first, "--session-id ")
	conversation, _, _ := strings.Cut(rest, " ")
	for line := range strings.Lines(later) {
		if !strings.Contains(line, "--resume "+conversation+" ") {
			return false
		}
	}
	return later != ""
}

// noted reports whether Claude has left a note.
func (f *farm) noted(name string) bool {
	_, err := os.Stat(filepath.Join(f.notes, name))
	return err == nil
}

// A turn that works is not ended: lines arrive, a build prints nothing, or the turn waits for
// a person, an action or the model's API.
func TestATurnThatWorksIsNotEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		during func(*farm, job.ID)
	}{
		"it speaks":                {"for i in 1 2 3 4 5 6 7; do sleep 0.5\n" + speech + "done\n", nil},
		"it writes":                {`for i in 1 2 3 4 5 6 7; do sleep 0.5; echo '{"type":"stream_event","event":{"type":"content_block_delta"}}'; done` + "\n", nil},
		"a build prints nothing":   {toolCall + "sleep 3\n" + toolResult, nil},
		"a subagent speaks":        {toolCall + "for i in 1 2 3 4 5 6 7; do sleep 0.5\n" + strings.Replace(speech, `{"type"`, `{"parent_tool_use_id":"t1","type"`, 1) + "done\n", nil},
		"the API is asked again":   {`echo '{"type":"system","subtype":"api_retry","retry_delay_ms":3500}'` + "\nsleep 3.5\n", nil},
		"a person is asked":        {toolCall + "sleep 6.5\n", (*farm).ask},
		"a person has just spoken": {toolCall + "sleep 7\n", (*farm).askAndAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			id := f.create("hasty", map[string]any{})
			n := f.start(f.claude(c.script+"touch "+f.notes+"/done\nsleep 1000\n"), false, nil)
			f.eventually("Claude to begin", func() bool { return f.begun() == 1 && f.get(id).State == job.Running })
			if c.during != nil {
				c.during(f, id)
			}
			f.eventually("Claude to be done", func() bool { return f.noted("done") || n.Stalled() > 0 })
			if n.Stalled() > 0 {
				t.Errorf("the turn was ended: %+v", f.get(id).LastFailure)
			}
		})
	}
}

func (f *farm) ask(id job.ID) {
	f.t.Helper()
	outcome, _, _, err := f.jobs.Ask(f.t.Context(), lifecycle.NewCheckpoint{
		RequestID: id, UserID: "u1", Type: job.InformationRequest, Message: "Which?", Props: []byte(`{}`), Digest: "q", Hold: time.Minute,
	})
	if err != nil || outcome.Kind != lifecycle.Accepted {
		f.t.Fatalf("asking: %v, %v", outcome, err)
	}
}

func (f *farm) askAndAnswer(id job.ID) {
	f.t.Helper()
	f.ask(id)
	c := *f.get(id).Checkpoint
	time.Sleep(3 * time.Second) // the time until a person answers
	must.Get(f.jobs.Answer(f.t.Context(), c, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Text: "This"}}))(f.t)
}

// The server is killed repeatedly while a turn hangs. The next start ends the turn when its time is
// up, counted from its last line.
func TestATurnThatHangsIsSeenAcrossRestarts(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	id := f.create("hasty", map[string]any{})
	hangs := f.claude(speech + noise + "sleep 1000\n")
	n := f.start(hangs, false, nil)
	f.eventually("Claude to begin", func() bool { return f.begun() == 1 })
	begun := time.Now()
	var failure *job.Failure
	for failure == nil && time.Since(begun) < time.Minute {
		// Each start runs for less than stall_timeout.
		for up := time.Now(); failure == nil && time.Since(up) < time.Second; time.Sleep(10 * time.Millisecond) {
			failure = f.get(id).LastFailure
		}
		n.stop()
		n = f.start(hangs, false, nil)
	}
	if failure == nil || failure.ErrorCode != job.CodeStalled {
		t.Errorf("the failure is %+v", failure)
	}
}
