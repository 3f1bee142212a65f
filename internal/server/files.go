package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"

	"ringback/internal/job"
	"ringback/internal/turn/artifact"
	"ringback/internal/turn/runner"
	"ringback/internal/turn/workspace"
)

// hasFilesOf reports whether this node has the files of a job, given the node of its latest turn. What another
// turn of the job left here does not count.
func (n *node) hasFilesOf(node string) bool { return n.runner != nil && n.runner.Node() == node }

// workDir returns the directory of a job's files; empty if there is none. here is false if they are on
// another node. Those of a job that a person plays are on the node that was asked to run an action.
func (n *node) workDir(node string, id job.ID) (dir string, here bool) {
	if n.runner == nil || node != "" && !n.hasFilesOf(node) {
		return "", node == ""
	}
	return n.runner.WorkDir(id), true
}

// files returns the files of a job whose latest turn a node ran; empty for one that a person plays.
func (n *node) files(node string, id job.ID) (artifact.Dir, bool) {
	if node == "" && n.runner != nil {
		node = n.runner.Node()
	}
	return runner.Files(n.opts.Config.DataDir, node, id)
}

// makeWorkDir makes the directory of a job's files; it returns "" on a node without any.
func (n *node) makeWorkDir(id job.ID) (string, error) {
	if n.runner == nil {
		return "", nil
	}
	return n.runner.MakeWorkDir(id)
}

// masked reports whether the turn of a job on this node runs in a sandbox, without access to
// what deny rules forbid.
func (n *node) masked(node string, id job.ID) bool { return n.hasFilesOf(node) && n.runner.Masked(id) }

// claudeDir returns Claude's working directory for a job, if it is on this node.
func (n *node) claudeDir(node string, id job.ID) string {
	if !n.hasFilesOf(node) {
		return ""
	}
	return cmp.Or(n.workspaceDir(id), n.runner.WorkDir(id))
}

// workspaceDir returns the directory of a job's repositories, if it is on this node.
func (n *node) workspaceDir(id job.ID) string {
	tree := workspace.Root{Dir: n.opts.Config.DataDir}.Of(string(id), nil).Dir()
	if _, err := os.Stat(tree); err != nil {
		return ""
	}
	return tree
}

// diffPage reads a part of a job's captured change: from its workspace if that is on
// this machine, else from the copy in the store for other machines.
func (n *node) diffPage(ctx context.Context, id job.ID, page job.DiffPage) ([]job.DiffOutput, error) {
	text, err := n.store.Changes.Diff(ctx, id)
	if err != nil || text == nil {
		return []job.DiffOutput{}, err
	}
	var captured []job.DiffOutput
	if err := json.Unmarshal(text, &captured); err != nil {
		return nil, err
	}
	var snapshot workspace.Snapshot
	if text, err = n.store.Changes.Snapshot(ctx, id); err == nil && text != nil {
		err = json.Unmarshal(text, &snapshot)
	}
	if err != nil {
		return nil, err
	}
	var since workspace.Trees
	if page.Since != nil {
		if since, err = n.store.Changes.TreesOf(ctx, id, *page.Since); err != nil {
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
