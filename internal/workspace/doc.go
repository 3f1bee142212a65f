// Package workspace holds the repositories that a job works in: clones them,
// tells what has changed, runs verifiers, and brings approved changes out (seed
// 001).
//
// What lies in a workspace is hostile: Claude, and what it runs, may have written
// anything there, .git included. So our own git runs on a repository of ours
// beside it, with its own configuration, and sees the workspace as files only.
package workspace
