package runner

import (
	"os"
	"path/filepath"
	"slices"

	"ringback/internal/approval"
	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/process"
)

// forbidden are the files that a kind's deny rules forbid to a turn, but for those by which
// it calls back.
type forbidden struct {
	approval.Forbidden
	dir string
}

func (f forbidden) Unreadable(path string) bool {
	return f.Forbidden.Unreadable(path) && !f.callsBack(path)
}

func (f forbidden) Unwritable(path string) bool {
	return f.Forbidden.Unwritable(path) && !f.callsBack(path)
}

func (f forbidden) callsBack(path string) bool {
	return filepath.Dir(path) == f.dir && slices.Contains(claude.PayloadFiles(), filepath.Base(path))
}

// maskedFile notes that the turn of a job runs without what deny rules forbid.
const maskedFile = "masked"

// masks are what a turn may not reach in its sandbox, and notes whether they are in force.
func (r *Runner) masks(d *process.Detached, k *kind.Kind, id job.ID) (masks process.Masks, err error) {
	note := filepath.Join(r.nodeDir.jobDir(id), maskedFile)
	if err := os.RemoveAll(note); err != nil {
		return masks, err
	}
	if !d.Sandbox.InForce() || len(k.Policy.Tools.Deny) == 0 {
		return masks, nil
	}
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		return masks, err
	}
	dir, err := filepath.EvalSymlinks(d.Dir)
	if err != nil {
		return masks, err
	}
	found := k.Policy.ToolRules().Forbidden(dir)
	if found.Files() {
		if masks, err = process.FindMasks(dir, found.Bases, forbidden{found, dir}); err != nil {
			return masks, err
		}
	}
	masks.Unreadable = append(masks.Unreadable, process.ProgramFiles(found.Programs, process.Value(d.Env, "PATH"))...)
	if masks.Covers, err = process.CoversIn(r.nodeDir.jobDir(id)); err != nil {
		return masks, err
	}
	return masks, os.WriteFile(note, nil, 0o600)
}

// Masked reports whether the turn of a job on this node runs without what deny rules
// forbid.
func (r *Runner) Masked(id job.ID) bool {
	_, err := os.Stat(filepath.Join(r.nodeDir.jobDir(id), maskedFile))
	return err == nil
}
