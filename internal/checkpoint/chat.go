package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"ringback/internal/checkpoint/intent"
	"ringback/internal/job"
)

// Incoming is a message from outside, as POST /from-llm and POST /to-llm take
// it, see docs/people.md.
type Incoming struct {
	// SessionID is the chat, UserID whose it is.
	SessionID string `json:"sessionId" jsonschema:"minLength=1,maxLength=256"`
	UserID    string `json:"userId,omitempty" jsonschema:"maxLength=128"`
	// Sender is user or assistant, as the endpoint has it.
	Sender job.Sender `json:"sender,omitempty"`
	// Content is the message as text.
	Content string `json:"content,omitempty" jsonschema:"maxLength=65536"`
	// Role says the same as Sender in the AI SDK's word, and may be tool in a message
	// of the user.
	Role job.Sender `json:"role,omitempty"`
	// Parts may be given in the place of Content, as the AI SDK has them.
	Parts json.RawMessage `json:"parts,omitempty" jsonschema:"type=array"`
	// MessageType is what sort of message it is.
	MessageType job.MessageType `json:"messageType,omitempty"`
	// Destination is whom an orchestrator outside sends it to.
	Destination string `json:"destination,omitempty" jsonschema:"maxLength=64"`
	// LogID is the sender's own id of the run.
	LogID string `json:"logId,omitempty" jsonschema:"maxLength=256"`
	// Props is a JSON object of further facts.
	Props json.RawMessage `json:"props,omitempty" jsonschema:"type=object"`
	// By is who sent it.
	By job.Actor `json:"-"`
	// ToolOutput is what the Parts say of a call that waits; nil where they do not.
	ToolOutput *ToolOutput `json:"-"`
}

func (m Incoming) body(sender job.Sender) job.MessageBody {
	b := job.Text(sender, m.Content)
	b.Destination, b.LogID, b.Props = m.Destination, m.LogID, m.Props
	if m.MessageType != "" {
		b.MessageType = m.MessageType
	}
	return b
}

// FromLLM takes a message of an orchestrator outside Ringback, and returns its
// id. One of type hitl_checkpoint is a question to the user.
func (s *Service) FromLLM(ctx context.Context, m Incoming) (int64, error) {
	if m.MessageType == job.WhichMessage {
		return 0, refuse("/messageType", `"which" is written by the server alone`)
	}
	if m.MessageType != job.CheckpointMessage {
		_, id, _, err := s.jobs.AppendMessage(ctx, m.UserID, m.SessionID, m.body(job.FromAssistant), false)
		return id, err
	}
	var known job.Props
	if len(m.Props) > 0 {
		if err := json.Unmarshal(m.Props, &known); err != nil {
			return 0, refuse("/props", wrongProps(err))
		}
	}
	if err := checkAsked(known); err != nil {
		return 0, err
	}
	_, asked, details, err := s.Ask(ctx, Request{
		RunID: cmp.Or(known.RunID, m.LogID), UserID: m.UserID, SessionID: m.SessionID, Type: known.CheckpointType, Message: m.Content,
		Props: m.Props, LogID: m.LogID, Destination: m.Destination,
	})
	if details != nil {
		e := job.Errorf(job.Invalid, "Invalid request")
		e.Details = details
		return 0, e
	}
	return asked.MessageID, err
}

// checkAsked refuses a question of an unknown type, or of a run that has no name.
func checkAsked(p job.Props) error {
	if !slices.Contains(job.CheckpointTypes[:], p.CheckpointType) {
		found := "is required but missing for a message of type hitl_checkpoint"
		if p.CheckpointType != "" {
			found = fmt.Sprintf("found %q", p.CheckpointType)
		}
		return refuse("/props/checkpoint_type", fmt.Sprintf("%s; allowed: %s", found, list(job.CheckpointTypes[:])))
	}
	if fault := job.RunNames.Fault(p.RunID); p.RunID != "" && fault != "" {
		return refuse("/props/run_id", fault)
	}
	return nil
}

// ToLLM takes a user's message and returns its id. If a checkpoint is open in
// the session, the message is the reply to it; else the session's latest job is
// told, or goes on because of it.
func (s *Service) ToLLM(ctx context.Context, m Incoming) (int64, error) {
	if m.ToolOutput != nil {
		return s.toolOutput(ctx, m)
	}
	to, err := s.addresseeOf(ctx, m)
	if err != nil {
		return 0, err
	}
	if to.which != nil {
		return s.askWhich(ctx, m, to.which)
	}
	for c := to.checkpoint; c != nil; {
		id, err := s.reply(ctx, *c, Reply{Seen: Seen{Shown: job.ShownInText(*c)}, Text: to.text, Written: m.Content, By: m.By, LogID: m.LogID, Destination: m.Destination})
		if !job.HasKind(err, job.Conflict) {
			return id, err
		}
		if c, err = s.askedAgain(ctx, *c); err != nil {
			return 0, err
		}
		if c != nil && allows(*c, to.text) {
			break // its writer has not seen the question as it is asked now
		}
	}
	// Nothing was asked, or it was answered at this very moment: then this is a
	// further message.
	_, id, _, err := s.jobs.AppendMessage(ctx, m.UserID, m.SessionID, m.body(job.FromUser), true)
	return id, err
}

// addresseeOf finds the checkpoint that a message replies to: the one it names by its
// message, else the one of the session's open ones that it is about.
func (s *Service) addresseeOf(ctx context.Context, m Incoming) (addressee, error) {
	open, err := s.store.OpenIn(ctx, m.UserID, m.SessionID)
	if err != nil || len(open) == 0 {
		return addressee{}, err
	}
	var named job.ReplyProps
	if len(m.Props) > 0 && json.Unmarshal(m.Props, &named) == nil && named.CheckpointMessageID != 0 {
		for _, c := range open {
			if c.MessageID == named.CheckpointMessageID {
				return addressee{checkpoint: &c, text: m.Content}, nil
			}
		}
		return addressee{}, nil
	}
	return s.oneOf(ctx, m, open)
}

// allows reports whether a text is a yes to a question that allows something.
func allows(c job.Checkpoint, text string) bool {
	f, details := parse(c)
	return c.Type.Binding() && (details != nil || intent.Read(f.context(), text).Outcome == intent.Approve)
}

// askedAgain returns the checkpoint that asks in the place of one that is closed;
// nil where none does. It never returns another question: nobody has replied to
// that.
func (s *Service) askedAgain(ctx context.Context, c job.Checkpoint) (*job.Checkpoint, error) {
	now, err := s.follow(ctx, c.ID)
	if err != nil || !now.Status.Waits() || now.ID == c.ID {
		return nil, err
	}
	return &now, nil
}
