package checkpoint

import (
	"context"
	"encoding/json"
	"time"

	"ringback/internal/job"
	"ringback/internal/store"
)

// ResumeFunc tells whoever put a checkpoint from outside what the reply is, by
// calling url, or the configured hook when url is empty. id is the same each
// time one reply is told.
type ResumeFunc func(ctx context.Context, url, id string, body []byte) error

// resumed is the body of such a call.
type resumed struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      struct {
		SessionID  string         `json:"sessionId"`
		UserID     string         `json:"userId"`
		Checkpoint job.Checkpoint `json:"checkpoint"`
		// RunID and CheckpointType repeat what the orchestrator's own props said.
		RunID          string             `json:"run_id"`
		CheckpointType job.CheckpointType `json:"checkpoint_type"`
		Reply          *job.Reply         `json:"reply"`
	} `json:"data"`
}

// resume tells an outside orchestrator of a reply.
func (s *Service) resume(ctx context.Context, id job.CheckpointID) error {
	c, err := s.store.Checkpoint(ctx, id)
	if err != nil || s.opts.Resume == nil {
		return notThere(err)
	}
	q, _ := parse(c)
	body := resumed{Type: "checkpoint.answered", Timestamp: c.AnsweredAt}
	body.Data.SessionID, body.Data.UserID, body.Data.Checkpoint = c.SessionID, c.UserID, c
	body.Data.RunID, body.Data.CheckpointType, body.Data.Reply = q.props.RunID, c.Type, c.Reply
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return s.opts.Resume(ctx, q.props.ResumeURL, string(c.ID), text)
}

// tell tells the outside that a job asks, or that it has ended.
func (s *Service) tell(ctx context.Context, t store.Task) error {
	if s.opts.Tell == nil {
		return nil // it was configured once
	}
	n := store.NoticeOf(t)
	if n.Checkpoint == "" {
		j, err := s.store.Get(ctx, n.Job)
		if err != nil {
			return notThere(err)
		}
		return s.opts.Tell(ctx, t.Kind, t.Ref, j, nil)
	}
	c, err := s.store.Checkpoint(ctx, n.Checkpoint)
	if err != nil {
		return notThere(err)
	}
	j, err := s.store.Get(ctx, c.RequestID)
	if err != nil {
		return notThere(err)
	}
	return s.opts.Tell(ctx, t.Kind, t.Ref, j, &c)
}
