// Ringback runs jobs on the Claude CLI and has Claude call back.
//
// A tour: a job is asked for over HTTP (internal/api), made by the rules for all
// jobs (internal/lifecycle), stored in Redis with its secret (internal/store) and
// taken by a worker (internal/runner), which starts the CLI with a prompt that says
// how to call back (internal/claude). Claude's curl arrives at internal/callback, is
// checked against the schemas (internal/schema) of the job's kind (internal/kind) and
// stored; the event that this makes reaches WebSocket clients through internal/hub.
//
// Where a person is needed, internal/checkpoint asks in the chat and takes the reply;
// internal/checkpoint/intent says what their words mean. internal/action runs what was
// allowed. A change of code goes from Claude to its repositories by internal/review,
// in the clones of internal/workspace. What webhooks and Slack are told of all this
// goes through internal/outbox.
//
// internal/job holds the words all of these share, and the state machine that
// docs/architecture.md draws; internal/server puts them together, and internal/cli
// is the command line.
package main
