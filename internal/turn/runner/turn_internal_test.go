package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"ringback/internal/job"
	"ringback/internal/turn/review"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

func TestWhyATurnCouldNotStart(t *testing.T) {
	t.Parallel()
	const bin = "The Claude CLI could not be started (/bin/claude): "
	r := &Runner{opts: Options{ClaudeBin: "/bin/claude"}}
	for name, c := range map[string]struct {
		err     error
		code    job.Code
		message string
	}{
		"the CLI is not there":              {&fs.PathError{Op: "fork/exec", Path: "/bin/claude", Err: fs.ErrNotExist}, job.CodeSpawnFailed, bin + "it was not found. Check CLAUDE_BIN."},
		"the CLI may not be run":            {&fs.PathError{Op: "fork/exec", Path: "/bin/claude", Err: fs.ErrPermission}, job.CodeSpawnFailed, bin + "it is not executable. Check CLAUDE_BIN."},
		"the system has no more processes":  {errors.New("resource temporarily unavailable"), job.CodeSpawnFailed, bin + "resource temporarily unavailable. Check CLAUDE_BIN."},
		"the repository is not there":       {&review.Error{Code: job.CodeWorkspace, Message: "The workspace could not be made ready: git clone: no"}, job.CodeWorkspace, "The workspace could not be made ready: git clone: no"},
		"the kind was removed":              {job.Errorf(job.NotFound, "The kind %q was removed while the job waited.", "x"), job.CodeKindGone, `The kind "x" was removed while the job waited.`},
		"the kind needs callbacks":          {job.Errorf(job.Conflict, "This kind asks people").WithHint("Set USE_CALLBACK_CLAUDE=true."), job.CodeNoCallbacks, "This kind asks people. Set USE_CALLBACK_CLAUDE=true."},
		"the store holds what it cannot":    {job.Errorf(job.Internal, "The store refused a command"), job.CodeSpawnFailed, "The turn could not be started: The store refused a command"},
		"whatever it was while it prepared": {fmt.Errorf("preparing: %w", job.Errorf(job.NotFound, "gone")), job.CodeKindGone, "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if code, message := r.whyNotStarted(c.err); code != c.code || message != c.message {
				t.Errorf("got %s %q, want %s %q", code, message, c.code, c.message)
			}
		})
	}
}

// A repository in which no work can begin is no reason for another attempt.
func TestWhatMayPass(t *testing.T) {
	t.Parallel()
	must.Equal(t, true, mayPass(fmt.Errorf("repository x: %w", errors.New("git clone: no"))))
	must.Equal(t, false, mayPass(fmt.Errorf("repository x: %w", &workspace.Unusable{})))
}
