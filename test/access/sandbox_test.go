package access

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

func TestStartSaysWhatConfinesJobs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env            vars
		ready, started string
	}{
		"auto":               {vars{"SANDBOX": "auto"}, "bubblewrap", "  sandbox bubblewrap"},
		"require":            {vars{"SANDBOX": "require"}, "bubblewrap", "  sandbox bubblewrap"},
		"off":                {vars{"SANDBOX": "off"}, "off (SANDBOX=off)", "  sandbox off (SANDBOX=off)"},
		"auto without bwrap": {vars{"SANDBOX": "auto", "PATH": rig.PathWithout(t, "bwrap")}, "none: bwrap is not on PATH", "WARNING Programs of jobs are not confined: bwrap is not on PATH: install bubblewrap"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := rig.Start(t, c.env)
			if got := n.WantReady(t); !strings.HasPrefix(got["sandbox"].(string), c.ready) {
				t.Errorf("/readyz says %v, want %s", got, c.ready)
			}
			must.Eventually(t, "the start to say "+c.started, func() bool { return strings.Contains(n.Log.String(), c.started) })
			n.Await(t, n.Create(t, object{}), "received")
		})
	}
}

func TestNoStartWithoutTheSandboxAskedFor(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), harness.Binary(), "serve")
	cmd.Env = []string{"PATH=" + rig.PathWithout(t, "bwrap"), "HOME=" + t.TempDir(), "DATA_DIR=" + t.TempDir(), "SANDBOX=require", "LISTEN_ADDR=127.0.0.1:0", "CLAUDE_BIN=simulate"}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "SANDBOX=require: bwrap is not on PATH: install bubblewrap") {
		t.Errorf("got %v: %s", err, out)
	}
}
