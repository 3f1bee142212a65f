package notify

import (
	"context"
	"encoding/json"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
)

// SendFunc posts a JSON body to an address. id is the same each time one notification is sent. It is
// implemented by Webhook's Notify.
type SendFunc func(ctx context.Context, address, id string, body []byte) error

// Addresses are the configured receivers of notifications; an empty one is not notified.
type Addresses struct {
	// Webhook is notified of checkpoints, of replies and of the ends of jobs.
	Webhook string
	// Slack is an incoming webhook of Slack, which is notified of checkpoints and ends.
	Slack string
}

// Ways returns the tasks to create for each checkpoint and each end of a job, see
// lifecycle.Options.
func (a Addresses) Ways() []lifecycle.TaskKind {
	var ways []lifecycle.TaskKind
	if a.Webhook != "" {
		ways = append(ways, lifecycle.TaskWebhook)
	}
	if a.Slack != "" {
		ways = append(ways, lifecycle.TaskSlack)
	}
	return ways
}

// Notifier sends notifications about jobs.
type Notifier struct {
	Addresses Addresses
	// TrustedFunc calls addresses from the configuration, GuardedFunc those from requests.
	TrustedFunc, GuardedFunc SendFunc
}

// notice is the body of a webhook.
type notice struct {
	// Type is test, checkpoint.opened, checkpoint.answered, checkpoint.outcome for something that was allowed
	// there and did not succeed, or job.<state> for a job that has ended.
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	// Sequence rises with each change of the job: notices may arrive in another order. It is absent
	// without a job.
	Sequence int64 `json:"sequence,omitempty"`
	// Data is a jobData or a replyData; in a test, only a message.
	Data any `json:"data"`
}

// Test returns the body of a message about no job, which shows whether messages arrive.
func Test(kind lifecycle.TaskKind, now time.Time) ([]byte, error) {
	const text = "This is a test message of ringback check: notifications about jobs arrive here."
	if kind == lifecycle.TaskSlack {
		return slackMessage(plain(text))
	}
	return json.Marshal(notice{"test", now.UTC(), 0, map[string]string{"message": text}})
}

type jobData struct {
	Job job.Job `json:"job"`
	// Checkpoint is the job's question, or the one with the outcome; nil for the job's end.
	Checkpoint *job.Checkpoint `json:"checkpoint,omitempty"`
}

// replyData reports the reply to a checkpoint of an external orchestrator.
type replyData struct {
	SessionID  string         `json:"sessionId"`
	UserID     string         `json:"userId"`
	Checkpoint job.Checkpoint `json:"checkpoint"`
	// RunID and CheckpointType are repeated from the orchestrator's own props.
	RunID          string             `json:"run_id"`
	CheckpointType job.CheckpointType `json:"checkpoint_type"`
	Reply          *job.Reply         `json:"reply"`
}

// Compose returns the function that creates the body of a notification, with links to these pages.
func Compose(pages job.Pages) lifecycle.ComposeFunc {
	return func(kind lifecycle.TaskKind, n lifecycle.Notice) ([]byte, error) { return compose(kind, n, pages) }
}

func compose(kind lifecycle.TaskKind, n lifecycle.Notice, pages job.Pages) ([]byte, error) {
	switch {
	case kind == lifecycle.TaskResume:
		c, props := *n.Checkpoint, job.Props{}
		_ = job.UnmarshalExact(c.Props, &props) // they were validated when the checkpoint was opened
		return json.Marshal(notice{"checkpoint.answered", c.AnsweredAt, n.Sequence, replyData{
			SessionID: c.SessionID, UserID: c.UserID, Checkpoint: c, RunID: props.RunID, CheckpointType: c.Type, Reply: c.Reply,
		}})
	case kind == lifecycle.TaskSlack && n.Checkpoint != nil && n.Checkpoint.Outcome != nil:
		return SlackOutcome(*n.Checkpoint)
	case kind == lifecycle.TaskSlack && n.Checkpoint != nil:
		return SlackQuestion(*n.Checkpoint, pages)
	case kind == lifecycle.TaskSlack:
		return SlackEnd(*n.Job)
	case n.Checkpoint != nil && n.Checkpoint.Outcome != nil:
		return json.Marshal(notice{"checkpoint.outcome", n.Checkpoint.Outcome.At, n.Sequence, jobData{*n.Job, n.Checkpoint}})
	case n.Checkpoint != nil:
		return json.Marshal(notice{"checkpoint.opened", n.Checkpoint.CreatedAt, n.Sequence, jobData{*n.Job, n.Checkpoint}})
	}
	return json.Marshal(notice{"job." + string(n.Job.State), n.Job.UpdatedAt, n.Sequence, jobData{*n.Job, nil}})
}

// delivery is one attempt to send a notification.
type delivery struct {
	notice store.Notice
	// receiver identifies the recipient; address is empty if it is no longer configured.
	receiver, address string
	sendFunc          SendFunc
}

// prepare loads the notification of a task and determines its recipient. Error: NotFound if
// it is no longer stored.
func (o *Outbox) prepare(ctx context.Context, p store.Partition, t store.Task) (delivery, error) {
	notice, err := o.queue.Notice(ctx, p, t)
	if err != nil {
		return delivery{}, err
	}
	if len(notice.Body) == 0 {
		return delivery{}, job.Errorf(job.NotFound, "The notice of the task %s was deleted", t.Ref)
	}
	d := delivery{
		notice: notice, receiver: string(t.Kind), address: o.notifier.Addresses.Webhook, sendFunc: o.notifier.TrustedFunc,
	}
	switch {
	case t.Kind == lifecycle.TaskSlack:
		d.address = o.notifier.Addresses.Slack
	case notice.Address != "":
		d.receiver, d.address, d.sendFunc = job.HostOf(notice.Address), notice.Address, o.notifier.GuardedFunc
	case t.Kind == lifecycle.TaskResume:
		d.receiver = string(lifecycle.TaskWebhook)
	}
	return d, nil
}
