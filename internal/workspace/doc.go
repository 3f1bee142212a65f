// Package workspace holds the repositories that a job works in: it clones them,
// tells what has changed, runs verifiers, takes the change along to another machine,
// and publishes what was approved.
//
// What lies in a workspace is hostile: Claude, and what it runs, may have written
// anything there, .git included. So there are two repositories of each. The worktree
// is Claude's, and we see it as files only. The trustedRepo is ours, beside it, with
// our own configuration: our git runs there, takes the worktree's files into an index
// of its own, and names what it finds by git's id of a tree. From then on the tree
// counts: what is shown, reviewed and pushed is that one, whatever is written to the
// worktree later. Programs see little of our environment, see process.Pick; hooks,
// filters and attributes that come with a change do nothing.
//
// A Root holds all workspaces of a data directory, and a mirror of each repository,
// from which they are cloned:
//
//	mirrors/<digest of the URL>      brought up to date under a lock
//	workspaces/<request id>/tree     the worktrees, where Claude works
//	workspaces/<request id>/git      the trusted repositories
//	workspaces/<request id>/settled  there once it is where the job's turn begins
//
// Whatever is done here may be cut off at any point and is done again: cloning begins
// anew where it was not complete, a commit that is there is found, a push of what was
// pushed changes nothing.
package workspace
