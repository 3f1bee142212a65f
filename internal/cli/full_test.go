package cli_test

import (
	"bytes"
	"context"
	"strings"
	"syscall"
	"testing"
	"time"
)

// full is a file on a disk on which some bytes are left.
type full struct {
	bytes.Buffer
	left int
}

// Write implements io.Writer.
func (f *full) Write(text []byte) (int, error) {
	n := min(len(text), f.left-f.Len())
	f.Buffer.Write(text[:n])
	if n < len(text) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// A command fails if its output could not be written to the end; one that follows something ends then.
func TestACommandWithoutItsOutputHasFailed(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"run meal-suggestions", "run meal-suggestions -o json", "run note --no-wait", "run meal-suggestions --jq .result",
		"status", "status -o json", "list", "list -q", "list --jq .jobs[].requestId", "kinds", "kinds note", "inbox", "messages s1",
		"transcript", "audit", "diff", "logs", "callback", "cancel req_01_abcdefghijklmnopqrstuvwxyz", "reply chk_03_questionsquestionsquestion 16:9", "approvals",
		"watch", "watch -o json", "watch --all", "list --watch", "messages s1 --follow", "--help", "help run", "completion bash",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			for _, left := range []int{0, 3} {
				c := newConsole(t, newStub(t).URL)
				if got := c.run(t, "run", "note", "--no-wait"); got.code != 0 {
					t.Fatal(got.stderr)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				got := c.runTo(ctx, &full{left: left}, strings.Fields(line)...)
				if got.code != 1 || !strings.Contains(got.stderr, "no space left") || ctx.Err() != nil {
					t.Errorf("with room for %d bytes it ended with %d, %v:\n%s", left, got.code, ctx.Err(), got.stderr)
				}
			}
		})
	}
}
