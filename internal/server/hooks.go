package server

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ringback/internal/config"
	"ringback/internal/job"
	"ringback/internal/notify"
	"ringback/internal/store"
)

// hooks are the webhooks that this node calls.
type hooks struct {
	// ours goes to addresses of the configuration and of kinds, theirs to those
	// that came with a request.
	ours, theirs *notify.Webhook
	url, slack   string
}

func (n *node) newHooks() (h hooks, err error) {
	c := n.opts.Config
	h.url, h.slack = c.WebhookURL, c.SlackURL
	if h.ours, err = notify.NewWebhook(c.WebhookSecret, false); err != nil {
		return h, fmt.Errorf("WEBHOOK_SECRET: %w", err)
	}
	h.theirs, err = notify.NewWebhook(c.WebhookSecret, !c.WebhookPrivate)
	return h, err
}

// waysOf are the ways by which the outside is told of jobs.
func waysOf(c config.Config) []store.TaskKind {
	var ways []store.TaskKind
	if c.WebhookURL != "" {
		ways = append(ways, store.TaskWebhook)
	}
	if c.SlackURL != "" {
		ways = append(ways, store.TaskSlack)
	}
	return ways
}

// resume implements checkpoint.ResumeFunc. An orchestrator that gave no address, and
// for which none is configured, reads the messages itself.
func (h hooks) resume(ctx context.Context, url, id string, body []byte) error {
	hook := h.theirs
	if url == "" {
		hook, url = h.ours, h.url
	}
	if url == "" {
		return nil
	}
	_, err := hook.Send(ctx, url, id, body)
	return err
}

// told is the body of a webhook that tells of a job.
type told struct {
	// Type is checkpoint.opened, or job.<state> for one that has ended.
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      toldOf    `json:"data"`
}

type toldOf struct {
	Job        job.Job         `json:"job"`
	Checkpoint *job.Checkpoint `json:"checkpoint,omitempty"`
}

// tell tells the outside that a job asks, or that it has ended.
func (h hooks) tell(ctx context.Context, way store.TaskKind, id string, j job.Job, c *job.Checkpoint) error {
	var body []byte
	var err error
	address := h.slack
	switch {
	case way == store.TaskSlack && c != nil:
		body, err = notify.SlackQuestion(*c)
	case way == store.TaskSlack:
		body, err = notify.SlackEnd(j)
	case c != nil:
		address = h.url
		body, err = json.Marshal(told{"checkpoint.opened", c.CreatedAt, toldOf{j, c}})
	default:
		address = h.url
		body, err = json.Marshal(told{"job." + string(j.State), j.UpdatedAt, toldOf{j, nil}})
	}
	if err != nil || address == "" {
		return err
	}
	_, err = h.ours.Send(ctx, address, id, body)
	return err
}
