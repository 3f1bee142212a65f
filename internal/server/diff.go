package server

import (
	"context"
	"encoding/json"
	"errors"
	"path"

	"ringback/internal/job"
	"ringback/internal/turn/workspace"
)

// diffPage reads a part of a job's captured change: from its workspace if that is on
// this machine, else from the copy in the store for other machines.
func (n *node) diffPage(ctx context.Context, id job.ID, page job.DiffPage) ([]job.DiffOutput, error) {
	text, err := n.store.Diff(ctx, id)
	if err != nil || text == nil {
		return []job.DiffOutput{}, err
	}
	var captured []job.DiffOutput
	if err := json.Unmarshal(text, &captured); err != nil {
		return nil, err
	}
	var snapshot workspace.Snapshot
	if text, err = n.store.Snapshot(ctx, id); err == nil && text != nil {
		err = json.Unmarshal(text, &snapshot)
	}
	if err != nil {
		return nil, err
	}
	var since workspace.Trees
	if page.Since != nil {
		if since, err = n.store.TreesOf(ctx, id, *page.Since); err != nil {
			return nil, err
		}
		if since == nil {
			return nil, job.Errorf(
				job.NotFound, "Nothing was steered in %s of the change (since=%d)", job.RoundWords(*page.Since, 0), *page.Since,
			).
				WithHint("GET /api/jobs/%s/steering lists the rounds; since= counts them from 0.", id)
		}
	}
	root := workspace.Root{Dir: n.opts.Config.DataDir, Environ: n.opts.Config.Environ, Sandbox: n.sandbox.Sandbox}
	shown, err := root.Of(string(id), nil).Page(ctx, captured, snapshot, workspace.Page{
		Repository: page.Repository, File: page.File, From: page.From, Lines: page.Lines, Context: page.Context, Since: since,
	})
	switch {
	case errors.Is(err, workspace.ErrNoFile):
		return nil, job.Errorf(job.NotFound, "The change has no file %q", path.Join(page.Repository, page.File)).WithHint(
			"GET /api/jobs/%s/diff lists its files.", id,
		)
	case errors.Is(err, workspace.ErrElsewhere):
		return nil, job.Errorf(job.Conflict, "These lines cannot be shown by this server: %s", err).
			WithHint("The workspace of a rejected change was removed. For any other change, ask a server that uses the DATA_DIR where the job ran. "+
				"GET /api/jobs/%s/diff shows the files and the first lines.", id)
	}
	return shown, err
}
