// Ringback runs jobs on the Claude CLI and has Claude call back.
//
// A tour: a job is requested over HTTP (internal/api), created by the rules for all jobs
// (internal/lifecycle), stored in Redis with its secret (internal/store) and taken by a
// worker (internal/runner), which starts the CLI with a prompt that explains how to call
// back (internal/claude). Claude's curl calls internal/callback, which validates the
// request with the schemas (internal/schema) of the job's kind (internal/kind) and stores
// it; internal/hub sends the resulting event to WebSocket clients.
//
// If a person is needed, internal/checkpoint asks in the chat and takes the reply;
// internal/checkpoint/intent interprets its words. internal/action runs what was approved.
// internal/review takes a code change from Claude to its repositories, in the clones of
// internal/workspace. internal/outbox notifies webhooks and Slack of all this.
//
// internal/job contains the types that all of these share, and the state machine that
// docs/architecture.md draws; internal/server wires everything together, and internal/cli
// is the command line.
package main
