package test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
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
		"auto without bwrap": {vars{"SANDBOX": "auto", "PATH": pathWithout(t, "bwrap")}, "none: bwrap is not on PATH", "WARNING Programs of jobs are not confined: bwrap is not on PATH: install bubblewrap"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, c.env)
			if got := n.want(t, 200, "GET", "/readyz", nil); !strings.HasPrefix(got["sandbox"].(string), c.ready) {
				t.Errorf("/readyz says %v, want %s", got, c.ready)
			}
			eventually(t, "the start to say "+c.started, func() bool { return strings.Contains(n.Log.String(), c.started) })
			n.await(t, n.create(t, object{}), "received")
		})
	}
}

func TestNoStartWithoutTheSandboxAskedFor(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), harness.Binary(), "serve")
	cmd.Env = []string{"PATH=" + pathWithout(t, "bwrap"), "HOME=" + t.TempDir(), "DATA_DIR=" + t.TempDir(), "SANDBOX=require", "LISTEN_ADDR=127.0.0.1:0", "CLAUDE_BIN=simulate"}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "SANDBOX=require: bwrap is not on PATH: install bubblewrap") {
		t.Errorf("got %v: %s", err, out)
	}
}
