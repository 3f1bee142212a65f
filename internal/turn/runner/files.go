package runner

import (
	"context"
	"errors"

	"ringback/internal/job"
	"ringback/internal/sandbox/untrusted"
)

// removeJobFiles removes the files of a job that has ended, except its artifacts, which
// are kept as long as its record.
func (r *Runner) removeJobFiles(id job.ID) {
	kept, dropped, err := r.nodeDir.files(id).Prune()
	if err != nil {
		r.log.Warn("could not remove job files", "requestId", id, "error", err)
		return
	}
	if dropped {
		r.log.Warn("job artifacts truncated", "requestId", id, "kept", kept)
	}
	if kept == 0 {
		r.removeJobDir(id)
		return
	}
	r.warnIf(removeAllButWork(r.nodeDir.jobDir(id)), "could not remove job files", "requestId", id)
}

// removeAllButWork removes what the directory of a job contains, except its working directory.
func removeAllButWork(dir string) error {
	d, err := untrusted.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for name, nameErr := range d.Names() {
		err = errors.Join(err, nameErr)
		if nameErr == nil && name != workName {
			err = errors.Join(err, d.Remove(name))
		}
	}
	return err
}

// onlyArtifacts reports whether only the job's artifacts are left.
func (r *Runner) onlyArtifacts(id job.ID) (is bool) {
	dir, err := untrusted.Open(r.nodeDir.jobDir(id))
	if err != nil {
		return false
	}
	defer dir.Close()
	for name, err := range dir.Names() {
		if is = err == nil && name == workName; !is {
			return false
		}
	}
	return is
}

func (r *Runner) removeJobDir(id job.ID) {
	r.warnIf(untrusted.Remove(r.nodeDir.jobDir(id)), "could not remove job files", "requestId", id)
}

// removeLeftovers removes the files of jobs that ended while this node was not running.
func (r *Runner) removeLeftovers(held map[job.ID]int) {
	for _, id := range r.nodeDir.jobs() {
		if held[id] == 0 && r.ownedTurnOf(id) == nil && !r.onlyArtifacts(id) {
			r.removeIfEnded(id)
		}
	}
}

// removeForgotten removes the files of jobs that have no record.
func (r *Runner) removeForgotten(ctx context.Context) {
	for _, id := range r.nodeDir.jobs() {
		if r.onlyArtifacts(id) && r.ownedTurnOf(id) == nil && r.forgotten(ctx, id) {
			r.removeJobDir(id)
		}
	}
	r.removeWorkspaces(ctx)
	r.removeConversations(ctx)
	r.pruneMirrors()
}

func (r *Runner) pruneMirrors() {
	if r.opts.MirrorsLimit == 0 {
		return
	}
	removed, err := r.workspaces().PruneMirrors(r.opts.MirrorsLimit)
	r.warnIf(err, "could not remove mirrors of repositories")
	if removed > 0 {
		r.log.Info("removed least recently used mirrors", "mirrors", removed, "limit", int64(r.opts.MirrorsLimit))
	}
}

func (r *Runner) forgotten(ctx context.Context, id job.ID) bool {
	_, err := r.store.Get(ctx, id)
	return job.HasKind(err, job.NotFound)
}

// removeWorkspaces removes the workspaces of jobs whose change was rejected, or whose record is gone. Of any other job,
// the workspace stays: a retry continues in it, and all lines of its change are read from it.
func (r *Runner) removeWorkspaces(ctx context.Context) {
	ids, err := r.workspaces().All()
	r.warnIf(err, "could not list the workspaces")
	for _, id := range ids {
		j, err := r.store.Get(ctx, job.ID(id))
		isNeeded := r.ownedTurnOf(job.ID(id)) != nil || !job.HasKind(err, job.NotFound) && (err != nil || j.State != job.Rejected)
		if !isNeeded {
			r.removeWorkspace(job.ID(id))
		}
	}
}

func (r *Runner) removeWorkspace(id job.ID) {
	r.warnIf(r.workspaces().Of(string(id), nil).Remove(), "could not remove a workspace", "requestId", id)
}

// rejected removes the workspace of a job whose change was rejected, once its turn is over.
// If the node stops before, removeWorkspaces makes up for it.
func (r *Runner) rejected(id job.ID) {
	if t := r.ownedTurnOf(id); t != nil {
		<-t.over
	}
	r.removeWorkspace(id)
}

// removeIfEnded removes the files of a job that has ended.
func (r *Runner) removeIfEnded(id job.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	j, err := r.store.Get(ctx, id)
	switch {
	case job.HasKind(err, job.NotFound), err == nil && j.State.Terminal() && j.Node != r.nodeDir.node:
		r.removeJobDir(id) // or another node has newer ones
	case err == nil && j.State.Terminal():
		r.removeJobFiles(id)
	}
}
