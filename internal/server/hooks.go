package server

import (
	"context"
	"fmt"

	"ringback/internal/notify"
)

// hooks are the webhooks that this node calls.
type hooks struct {
	// ours goes to addresses of the configuration and of kinds, theirs to those
	// that came with a request.
	ours, theirs *notify.Webhook
	url          string
}

func (n *node) newHooks() (h hooks, err error) {
	c := n.opts.Config
	h.url = c.WebhookURL
	if h.ours, err = notify.NewWebhook(c.WebhookSecret, false); err != nil {
		return h, fmt.Errorf("WEBHOOK_SECRET: %w", err)
	}
	h.theirs, err = notify.NewWebhook(c.WebhookSecret, !c.WebhookPrivate)
	return h, err
}

// resume implements human.ResumeFunc. An orchestrator that gave no address, and
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
