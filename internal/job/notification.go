package job

import (
	"net/url"
	"time"
)

// NotificationID identifies a notification.
type NotificationID string

// Receiver is the receiver of a notification.
type Receiver string

// The receivers.
const (
	WebhookReceiver Receiver = "webhook" // WEBHOOK_URL
	SlackReceiver   Receiver = "slack"   // SLACK_WEBHOOK_URL
	ResumeReceiver  Receiver = "resume"  // the resume_url of a question from outside, or else WEBHOOK_URL
)

// NotificationStatus is the status of an undelivered notification.
type NotificationStatus string

// The statuses. A delivered notification has none.
const (
	NotificationWaiting NotificationStatus = "waiting"
	NotificationGivenUp NotificationStatus = "given_up"
)

// NotificationStatuses lists both statuses.
var NotificationStatuses = [...]NotificationStatus{NotificationWaiting, NotificationGivenUp}

// Notification is an undelivered notification.
type Notification struct {
	// ID identifies it. What follows the first colon, with | for each further colon, is the
	// webhook-id that the receiver sees.
	ID NotificationID `json:"id"`
	// Receiver is the receiver: webhook, slack, or resume for the reply to a question from outside.
	Receiver     Receiver           `json:"receiver"`
	Host         string             `json:"host,omitempty"`         // The host of the URL that came with the question.
	Status       NotificationStatus `json:"status"`                 // The state: waiting, or given_up: no more attempts are made.
	RequestID    ID                 `json:"requestId,omitempty"`    // The job that ended.
	CheckpointID CheckpointID       `json:"checkpointId,omitempty"` // The question that was asked or answered.
	Time         time.Time          `json:"time,omitzero"`          // The time of the event.
	NextTry      time.Time          `json:"nextTry,omitzero"`       // The time of the next attempt.
	Error        string             `json:"error,omitempty"`        // The error of the last attempt.
}

// NotificationCount counts the undelivered notifications for a receiver.
type NotificationCount struct {
	Receiver Receiver `json:"receiver"` // The receiver: webhook, slack, or resume.
	Waiting  int64    `json:"waiting"`  // The number of notifications that will be retried.
	GivenUp  int64    `json:"givenUp"`  // The number of notifications that will not be retried.
}

// NoNotification returns the error for a notification that was delivered or never existed.
func NoNotification(id NotificationID) error {
	return Errorf(NotFound, "There is no undelivered notification %s", id)
}

// HostOf returns the host of a URL; the rest may contain secrets.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
