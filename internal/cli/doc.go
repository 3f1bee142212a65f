// Package cli is the command line for people and scripts: creating, watching
// and ending jobs on a running server. Output for people is coloured and
// aligned on a terminal only; --output json is the API's own JSON, with escapes in place of
// characters that steer a terminal.
//
// Exit codes: 0 for success, 1 when something failed or a job brought no
// result, 2 for a mistake in the command line, 130 when run was left with Ctrl-C
// while its job goes on.
package cli
