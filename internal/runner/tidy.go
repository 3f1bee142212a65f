package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"ringback/internal/job"
)

// tidy removes the files of a job that has ended, but for those that it made: they
// stay as long as its record.
func (r *Runner) tidy(id job.ID) {
	kept, dropped, err := r.slot.files(id).Prune()
	if err != nil {
		r.log.Warn("could not tidy the files of a job", "requestId", id, "error", err)
		return
	}
	if dropped {
		r.log.Warn("a job made more files than are kept", "requestId", id, "kept", kept)
	}
	if kept == 0 {
		r.removeFiles(id)
		return
	}
	entries, err := os.ReadDir(r.slot.jobDir(id))
	for _, e := range entries {
		if e.Name() != workName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.slot.jobDir(id), e.Name())))
		}
	}
	if err != nil {
		r.log.Warn("could not tidy the files of a job", "requestId", id, "error", err)
	}
}

// tidied reports whether nothing but the files that a job made is left.
func (r *Runner) tidied(id job.ID) bool {
	entries, err := os.ReadDir(r.slot.jobDir(id))
	return err == nil && len(entries) == 1 && entries[0].Name() == workName
}

func (r *Runner) removeFiles(id job.ID) {
	if err := os.RemoveAll(r.slot.jobDir(id)); err != nil {
		r.log.Warn("could not remove the files of a job", "requestId", id, "error", err)
	}
}

// removeLeftovers tidies the files, and ends the processes, of jobs that this node
// no longer runs.
func (r *Runner) removeLeftovers(held map[job.ID]bool) {
	ids, err := r.slot.jobs()
	if err != nil {
		return
	}
	for _, id := range ids {
		if !held[id] && !r.has(id) && !r.tidied(id) {
			r.tidyEnded(id)
		}
	}
}

// removeForgotten removes the files of jobs whose records are gone.
func (r *Runner) removeForgotten(ctx context.Context) {
	ids, err := r.slot.jobs()
	if err != nil {
		return
	}
	for _, id := range ids {
		if r.tidied(id) && !r.has(id) && r.forgotten(ctx, id) {
			r.removeFiles(id)
		}
	}
	r.removeWorkspaces(ctx)
}

// forgotten reports whether a job has no record any more.
func (r *Runner) forgotten(ctx context.Context, id job.ID) bool {
	_, err := r.store.Get(ctx, id)
	e, ok := errors.AsType[*job.Error](err)
	return ok && e.Kind == job.NotFound
}

// removeWorkspaces clears the workspaces of jobs whose records are gone: until
// then their changes may be looked at.
func (r *Runner) removeWorkspaces(ctx context.Context) {
	ids, err := r.places().All()
	if err != nil {
		r.log.Warn("could not list the workspaces", "error", err)
	}
	for _, id := range ids {
		if !r.forgotten(ctx, job.ID(id)) {
			continue
		}
		if err := r.places().Of(id, nil).Remove(); err != nil {
			r.log.Warn("could not remove a workspace", "requestId", id, "error", err)
		}
	}
}

// tidyEnded tidies the files of a job that has ended.
func (r *Runner) tidyEnded(id job.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	j, err := r.store.Get(ctx, id)
	e, failed := errors.AsType[*job.Error](err)
	switch {
	case failed && e.Kind == job.NotFound, err == nil && j.State.Terminal() && j.Node != r.slot.node:
		r.removeFiles(id) // or another node has newer ones
	case err == nil && j.State.Terminal():
		r.tidy(id)
	}
}
