// Package outbox runs the tasks that a job's transition requires outside of Redis: it
// notifies webhooks and Slack, and starts the jobs required by a reply or a message.
//
// A transition stores its tasks in the same atomic step as everything else, so none is lost
// if a node dies. A node leases a task; if it neither finishes nor postpones it before the
// lease expires, another node takes it. So each task is run at least once, and each handler
// is idempotent: webhooks carry the same id each time, and the store guards everything
// else.
//
// Package notify sends the notifications.
package outbox
