package server

import (
	"cmp"
	"os"

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
