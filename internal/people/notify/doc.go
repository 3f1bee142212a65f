// Package notify sends notifications: webhooks signed according to Standard Webhooks
// (https://www.standardwebhooks.com), and Slack messages.
//
// It stores nothing: callers keep messages in an outbox and retry as Retry specifies.
package notify
