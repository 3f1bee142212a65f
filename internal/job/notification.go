package job

import (
	"net/url"
	"time"
)

// NotificationID identifies a notification.
type NotificationID string

// Receiver is whom a notification is for.
type Receiver string

// The receivers.
const (
	WebhookReceiver Receiver = "webhook" // WEBHOOK_URL
	SlackReceiver   Receiver = "slack"   // SLACK_WEBHOOK_URL
	ResumeReceiver  Receiver = "resume"  // the resume_url of a question from outside, else WEBHOOK_URL
)

// NotificationStatus says whether a notification is still tried.
type NotificationStatus string

// The statuses. One that got through is in neither.
const (
	NotificationWaiting NotificationStatus = "waiting"
	NotificationGivenUp NotificationStatus = "given_up"
)

// NotificationStatuses are both.
var NotificationStatuses = [...]NotificationStatus{NotificationWaiting, NotificationGivenUp}

// Notification is one that has not got through yet.
type Notification struct {
	// ID names it. Behind its first colon, with | for each further one, it is the webhook-id that the receiver sees.
	ID NotificationID `json:"id"`
	// Receiver is webhook, slack, or resume for the reply to a question from outside.
	Receiver Receiver `json:"receiver"`
	// Host is that of the address that came with the question.
	Host string `json:"host,omitempty"`
	// Status is waiting, or given_up: it is tried no more.
	Status NotificationStatus `json:"status"`
	// RequestID is the job that has ended.
	RequestID ID `json:"requestId,omitempty"`
	// CheckpointID is the question that was asked or answered.
	CheckpointID CheckpointID `json:"checkpointId,omitempty"`
	// Time is when it happened.
	Time time.Time `json:"time,omitzero"`
	// NextTry is when it is tried again.
	NextTry time.Time `json:"nextTry,omitzero"`
	// Error is why the last try failed.
	Error string `json:"error,omitempty"`
}

// NotificationCount counts the notifications for a receiver that have not got through.
type NotificationCount struct {
	// Receiver is webhook, slack, or resume.
	Receiver Receiver `json:"receiver"`
	// Waiting counts those that are still tried, GivenUp those that are not.
	Waiting int64 `json:"waiting"`
	GivenUp int64 `json:"givenUp"`
}

// NoNotification is the error for a notification that has got through, or never was.
func NoNotification(id NotificationID) error {
	return Errorf(NotFound, "There is no notification %s that waits or was given up", id)
}

// HostOf is the host of an address; the rest may hold secrets.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
