package callback_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/store"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

// open returns the question at which the turn's job waits.
func (t *turn) open() job.Checkpoint {
	t.t.Helper()
	list, _, err := t.store.Checkpoints(t.t.Context(), store.CheckpointQuery{Status: job.Open, UserID: "u1", Limit: 10})
	if err != nil || len(list) != 1 {
		t.t.Fatalf("%d questions are open: %v", len(list), err)
	}
	return list[0]
}

// The world changes after each approval and before the action runs.
func TestWhatHasChangedSinceTheYesDoesNotRun(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "world")
	set := func(text string) {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	set("0")
	turn := startServer(t, callback.Options{}).start("release")
	call := func(confirmed bool) answer {
		payload := object{"input": object{"file": file}}
		if confirmed {
			payload["confirmed"] = true
		}
		return turn.want(200, "actions/switch", payload)
	}
	yes := func() { turn.reply(checkpoint.Reply{Decision: job.Approve}); turn.resume() }
	call(false)
	changes := 100
	if os.Getenv("LONG_TESTS") != "" {
		changes = 1000
	}
	for i := range changes {
		yes()
		set(strconv.Itoa(i + 1))
		must.Equal(t, "pending_confirmation", call(true).text("status"), "a change was answered")
		shown := job.PreviewIn(turn.open().Props)
		if shown == nil || shown.Before == nil || shown.Text != strconv.Itoa(i+1) || shown.Before.Text != strconv.Itoa(i) {
			t.Fatalf("people are shown %+v", shown)
		}
	}
	must.Equal(t, 0, turn.ran.Load(), "runs")
	yes()
	must.OK(t, os.Remove(file))
	if a := call(true); a.text("status") != "error" || !strings.Contains(a.text("message"), "nothing ran") {
		t.Errorf("a preview that fails was answered %v", a.Body)
	}
	set(strconv.Itoa(changes))
	if a := call(true); a.text("status") != "success" || turn.ran.Load() != 1 {
		t.Errorf("what was allowed was answered %v and ran %d times", a.Body, turn.ran.Load())
	}
}
