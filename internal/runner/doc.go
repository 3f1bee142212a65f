// Package runner runs turns: it takes queued jobs, starts one CLI process per
// turn, watches it, and ends it with its job. A process depends on nothing of
// the server: its output goes to files, its results arrive over HTTP. A server
// that restarts adopts the processes it left behind, after making sure that
// they are its own; those of a node that stays away are rung again elsewhere.
package runner
