package outbox

import (
	"context"
	"encoding/json"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/notify"
	"ringback/internal/store"
)

// Records are what notifications tell of: store.Store.
type Records interface {
	Get(ctx context.Context, id job.ID) (job.Job, error)
	Checkpoint(ctx context.Context, id job.CheckpointID) (job.Checkpoint, error)
}

// SendFunc posts a JSON body to an address and returns what was answered. id is the
// same each time one notification is sent. It is notify.Webhook's Send.
type SendFunc func(ctx context.Context, address, id string, body []byte) ([]byte, error)

// Addresses are where the configuration has the outside notified; an empty one is
// not notified.
type Addresses struct {
	// Webhook is told of checkpoints, of replies and of the ends of jobs.
	Webhook string
	// Slack is an incoming webhook of Slack's, told of checkpoints and ends.
	Slack string
}

// Ways are the tasks that each checkpoint and each end of a job brings about, see
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

// Notifier notifies the outside of what happened to jobs.
type Notifier struct {
	Records   Records
	Addresses Addresses
	// TrustedFunc calls addresses of the configuration, GuardedFunc those that came
	// with a request.
	TrustedFunc, GuardedFunc SendFunc
}

// jobNotice is the body of a webhook about a job.
type jobNotice struct {
	// Type is checkpoint.opened, or job.<state> for one that has ended.
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      jobData   `json:"data"`
}

type jobData struct {
	Job job.Job `json:"job"`
	// Checkpoint is what the job asks; nil for its end.
	Checkpoint *job.Checkpoint `json:"checkpoint,omitempty"`
}

// replyNotice is the body of the webhook that tells whoever put a checkpoint from
// outside what the reply is.
type replyNotice struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      replyData `json:"data"`
}

type replyData struct {
	SessionID  string         `json:"sessionId"`
	UserID     string         `json:"userId"`
	Checkpoint job.Checkpoint `json:"checkpoint"`
	// RunID and CheckpointType repeat what the orchestrator's own props said.
	RunID          string             `json:"run_id"`
	CheckpointType job.CheckpointType `json:"checkpoint_type"`
	Reply          *job.Reply         `json:"reply"`
}

// answered tells whoever put a checkpoint from outside what the reply is: at the
// address that came with the question, else at the configured one. Where there is
// neither, the orchestrator reads the messages itself.
func (n Notifier) answered(ctx context.Context, id job.CheckpointID) error {
	c, err := n.Records.Checkpoint(ctx, id)
	if err != nil {
		return err
	}
	var props job.Props
	_ = json.Unmarshal(c.Props, &props) // they were checked when the question was put
	body, err := json.Marshal(replyNotice{"checkpoint.answered", c.AnsweredAt, replyData{
		SessionID: c.SessionID, UserID: c.UserID, Checkpoint: c, RunID: props.RunID, CheckpointType: c.Type, Reply: c.Reply,
	}})
	if err != nil {
		return err
	}
	if props.ResumeURL != "" {
		return send(ctx, n.GuardedFunc, props.ResumeURL, string(c.ID), body)
	}
	return send(ctx, n.TrustedFunc, n.Addresses.Webhook, string(c.ID), body)
}

// notify tells of a job that it asks, or that it has ended.
func (n Notifier) notify(ctx context.Context, t store.Task) error {
	address, compose := n.Addresses.Webhook, webhookBody
	if t.Kind == lifecycle.TaskSlack {
		address, compose = n.Addresses.Slack, slackBody
	}
	j, c, err := n.subject(ctx, store.NoticeOf(t))
	if err != nil {
		return err
	}
	body, err := compose(j, c)
	if err != nil {
		return err
	}
	return send(ctx, n.TrustedFunc, address, t.Ref, body)
}

// subject reads what a notice is about: a job, and the checkpoint that it asks; nil
// where it tells of the job's end.
func (n Notifier) subject(ctx context.Context, about store.Notice) (job.Job, *job.Checkpoint, error) {
	if about.Checkpoint == "" {
		j, err := n.Records.Get(ctx, about.Job)
		return j, nil, err
	}
	c, err := n.Records.Checkpoint(ctx, about.Checkpoint)
	if err != nil {
		return job.Job{}, nil, err
	}
	j, err := n.Records.Get(ctx, c.RequestID)
	return j, &c, err
}

func webhookBody(j job.Job, c *job.Checkpoint) ([]byte, error) {
	if c != nil {
		return json.Marshal(jobNotice{"checkpoint.opened", c.CreatedAt, jobData{j, c}})
	}
	return json.Marshal(jobNotice{"job." + string(j.State), j.UpdatedAt, jobData{j, nil}})
}

func slackBody(j job.Job, c *job.Checkpoint) ([]byte, error) {
	if c != nil {
		return notify.SlackQuestion(*c)
	}
	return notify.SlackEnd(j)
}

// send posts a body; to nobody where no address is configured any more.
func send(ctx context.Context, sendFunc SendFunc, address, id string, body []byte) error {
	if address == "" {
		return nil
	}
	_, err := sendFunc(ctx, address, id, body)
	return err
}
