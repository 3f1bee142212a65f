// Package outbox does what a transition of a job asks for outside of Redis: it
// notifies webhooks and Slack, and starts the jobs that a reply or a message calls
// for.
//
// A transition stores its tasks in the same atomic step as everything else, so
// none is lost, whoever dies. A node that takes a task has it for a lease; if it
// neither finishes nor postpones the task meanwhile, another node takes it. So each
// task is done at least once, and each handler changes nothing when it runs again:
// webhooks carry the same id each time, and what else is done is guarded by the
// store.
//
// How a notification is sent is package notify's.
package outbox
