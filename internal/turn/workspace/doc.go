// Package workspace manages the repositories that a job works in: it clones them, shows their
// changes, runs verifiers, moves the changes to another machine, and publishes them once approved.
//
// The files in a workspace are hostile: Claude, and what it runs, may have written anything there,
// including .git. So each repository exists twice. The worktree belongs to Claude, and Ringback
// treats it as files only. The trustedRepo belongs to Ringback and has Ringback's configuration.
// Ringback's git runs there, adds the worktree's files to a separate index, and identifies them by
// a git tree id. That tree is then shown, reviewed and pushed, whatever is written to the worktree
// later. Programs get little of Ringback's environment, see process.Pick. Hooks, filters and
// attributes in a change have no effect.
//
// A Root contains all workspaces of a data directory, and a mirror of each repository, from which
// they are cloned:
//
//	mirrors/<digest of the URL>      updated under a lock
//	workspaces/<request id>/tree     the worktrees, where Claude works
//	workspaces/<request id>/verify   copies of what was captured, while verifiers run there
//	workspaces/<request id>/git      the trusted repositories
//	workspaces/<request id>/settled  written once the files are ready for the job's turn
//
// All operations can be interrupted at any point and repeated: an incomplete clone starts over, an
// existing commit is reused, and pushing again changes nothing.
package workspace
