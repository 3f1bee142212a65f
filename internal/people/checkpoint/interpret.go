package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// interpretInput is the input of the job that interprets a reply.
type interpretInput struct {
	Question string `json:"question"`
	// Reply is one message or several, each on separate lines.
	Reply       string          `json:"reply"`
	Field       string          `json:"field,omitempty"`
	Current     json.RawMessage `json:"currentValue,omitempty"`
	ValidValues []any           `json:"validValues,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Known       map[string]any  `json:"knownValues,omitempty"`
	// Exchange is the conversation since the question was first asked.
	Exchange []job.Utterance `json:"exchange,omitempty"`
	History  []job.Utterance `json:"history"`
}

type meaning struct {
	// Action is values, cancel or unclear.
	Action string         `json:"action"`
	Values map[string]any `json:"values"`
	// Confidence is from 0 to 1.
	Confidence float64 `json:"confidence"`
	// Ask is the question to ask back.
	Ask string `json:"ask"`
}

// historyLength limits the history that the job is given: it begins at most this many message ids
// before the question and has at most twice as many messages.
const historyLength = 40

// StartInterpreting has Claude interpret the reply to a checkpoint in a separate job. A further reply
// ends that job and starts another. It does nothing if the reply no longer needs interpreting, so
// it can be repeated. Errors: NotFound if the checkpoint was deleted.
func (s *Service) StartInterpreting(ctx context.Context, r lifecycle.Round) error {
	c, err := s.store.Checkpoints.Get(ctx, r.Checkpoint)
	if err != nil || c.Status != job.Interpreting || c.Round != r.Number {
		return err
	}
	f, details := parse(c)
	f = f.known()
	if !s.jobs.CanInterpret() || details != nil || c.Reply == nil {
		return s.settle(ctx, c, f.askAgain(*cmp.Or(c.Reply, new(job.Reply)), f.props.CurrentValues, f.repeated()))
	}
	past, err := s.history(ctx, c)
	if err != nil {
		return err
	}
	return s.jobs.Interpret(ctx, r, c.RequestID, c.UserID, job.MustJSON(interpretInput{
		Question: c.Message, Reply: c.Reply.Text, Field: f.field(), Current: f.props.CurrentValue, ValidValues: f.props.ValidValues,
		Schema: f.props.Schema, Known: f.props.CurrentValues, Exchange: c.Exchange, History: past,
	}))
}

// known adds the values that were understood in this round before Claude was asked to those of
// earlier rounds.
func (f form) known() form {
	if r := f.checkpoint.Reply; r != nil && r.Values != nil {
		f.props.CurrentValues = f.merged(r.Values)
	}
	return f
}

func (s *Service) history(ctx context.Context, c job.Checkpoint) ([]job.Utterance, error) {
	messages, _, err := s.store.Chats.Messages(ctx, c.UserID, c.SessionID, max(0, c.MessageID-historyLength), 2*historyLength)
	if err != nil {
		return nil, err
	}
	past := make([]job.Utterance, len(messages))
	for i, m := range messages {
		past[i] = m.Utterance()
	}
	return past, nil
}

// FinishInterpreting uses Claude's interpretation of a reply, the result of the job id: as the answer if
// it is certain and fits, otherwise to ask again. Like StartInterpreting, it can be repeated. Errors:
// NotFound if the job or the checkpoint was deleted.
func (s *Service) FinishInterpreting(ctx context.Context, id job.ID) error {
	read, err := s.store.Get(ctx, id)
	if err != nil {
		return err
	}
	r, err := s.store.Jobs.Interprets(ctx, id)
	if err != nil {
		return err
	}
	c, err := s.store.Checkpoints.Get(ctx, r.Checkpoint)
	if err != nil || c.Status != job.Interpreting || c.Round != r.Number || c.Reply == nil {
		return err
	}
	f, _ := parse(c)
	f = f.known()
	m := meaning{Action: "unclear"}
	if read.State == job.Received {
		if err := job.UnmarshalExact(read.Result, &m); err != nil {
			return err
		}
	}
	s.log.Info("reply interpreted", "checkpointId", c.ID, "requestId", c.RequestID, "action", m.Action, "confidence", m.Confidence)
	base := *c.Reply
	a := f.askAgain(base, f.props.CurrentValues, cmp.Or(m.Ask, f.repeated()))
	switch {
	case m.Confidence < s.opts.Confidence:
	case m.Action == "cancel":
		a = f.cancel(base.Text)
	case m.Action == "values":
		base.Confidence = m.Confidence
		a = f.withValues(base, m.Values)
	}
	return s.settle(ctx, c, a)
}

// settle stores the interpretation of a reply. It ignores a Conflict: another node may have stored
// it, or the person may have replied again.
func (s *Service) settle(ctx context.Context, c job.Checkpoint, a lifecycle.Resolution) error {
	_, err := s.jobs.Answer(ctx, c, withExchange(a, c.Exchange))
	if job.HasKind(err, job.Conflict) {
		return nil
	}
	return err
}
