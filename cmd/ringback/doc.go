// Ringback runs jobs on the Claude CLI and has Claude call back.
//
// A tour: a job is requested over HTTP (internal/web/api), created by the rules for all jobs
// (internal/rules/lifecycle), stored in Redis with its secret (internal/store) and taken by a
// worker (internal/turn/runner), which starts the CLI with a prompt that explains how to call
// back (internal/turn/claude). Claude's curl calls internal/web/callback, which validates the
// request with the schemas (internal/rules/schema) of the job's kind (internal/rules/kind) and stores
// it; internal/web/hub sends the resulting event to WebSocket clients.
//
// If a person is needed, internal/people/checkpoint asks in the chat and takes the reply;
// internal/rules/intent interprets its words. internal/turn/action runs what was approved.
// internal/turn/review takes a code change from Claude to its repositories, in the clones of
// internal/turn/workspace. internal/people/notify notifies webhooks and Slack of all this.
//
// internal/job contains the types that all of these share, and the state machine that
// docs/architecture.md draws; internal/server wires everything together, and internal/cli
// is the command line.
package main
