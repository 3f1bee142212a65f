// Package notify tells the outside world: webhooks signed as Standard Webhooks
// (https://www.standardwebhooks.com), and Slack.
//
// It keeps nothing: whoever calls it has the message in an outbox, and sends it
// again as Retry says.
package notify
