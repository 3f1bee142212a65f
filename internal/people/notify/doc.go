// Package notify runs the tasks that a job's transition requires outside of Redis: it notifies webhooks
// (signed according to Standard Webhooks, https://www.standardwebhooks.com) and Slack, and starts the
// jobs required by a reply or a message. It also reads the commands that people type in Slack.
//
// A transition stores its tasks in the same atomic step as everything else, so none is lost
// if a node dies. A node's Outbox leases a task; if it neither finishes nor postpones it before the
// lease expires, another node takes it. So each task is run at least once, and each handler
// is idempotent: webhooks carry the same id each time, and the store guards everything
// else.
package notify
