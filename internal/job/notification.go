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
	Receiver Receiver `json:"receiver"`
	// Host is the host of the URL that came with the question.
	Host string `json:"host,omitempty"`
	// Status is the state: waiting, or given_up: no more attempts are made.
	Status NotificationStatus `json:"status"`
	// RequestID is the job that ended.
	RequestID ID `json:"requestId,omitempty"`
	// CheckpointID is the question that was asked or answered.
	CheckpointID CheckpointID `json:"checkpointId,omitempty"`
	// Time is the time of the event.
	Time time.Time `json:"time,omitzero"`
	// NextTry is the time of the next attempt.
	NextTry time.Time `json:"nextTry,omitzero"`
	// Error is the error of the last attempt.
	Error string `json:"error,omitempty"`
}

// NotificationCount counts the undelivered notifications for a receiver.
type NotificationCount struct {
	// Receiver is the receiver: webhook, slack, or resume.
	Receiver Receiver `json:"receiver"`
	Waiting  int64    `json:"waiting"` // The number of notifications that will be retried.
	GivenUp  int64    `json:"givenUp"` // The number of notifications that will not be retried.
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
