package runner

import (
	"context"
	"os"
	"path/filepath"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/turn/claude"
)

// maskedFile marks a job with a turn that runs in a sandbox, without access to what deny rules
// forbid. It is outside of the directories that the turn can write.
const maskedFile = "masked"

// masks returns what a turn may not access in its sandbox, and records whether there is one.
func (r *Runner) masks(
	ctx context.Context, d *process.Detached, k *kind.Kind, id job.ID,
) (masks process.Masks, err error) {
	note := filepath.Join(r.nodeDir.jobDir(id), maskedFile)
	if err := untrusted.Remove(note); err != nil {
		return masks, err
	}
	if !d.Sandbox.InForce() {
		return masks, nil
	}
	for _, dir := range []string{d.Dir, r.nodeDir.jobDir(id)} { // a simulated turn on repositories has made neither
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return masks, err
		}
	}
	masks, err = claude.MasksOfTurn(
		ctx, k.Policy.ToolRules(), d.Dir, process.Value(d.Env, "PATH"), r.nodeDir.jobDir(id),
	)
	if err != nil {
		return masks, err
	}
	if err := os.MkdirAll(filepath.Dir(note), 0o700); err != nil { // a workspace is elsewhere
		return masks, err
	}
	return masks, untrusted.WriteFile(note, nil)
}

// Masked reports whether the turn of a job on this node runs in a sandbox, without access to
// what deny rules forbid.
func (r *Runner) Masked(id job.ID) bool {
	_, err := os.Stat(filepath.Join(r.nodeDir.jobDir(id), maskedFile))
	return err == nil
}
