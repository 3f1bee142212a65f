package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/outbound"
	"ringback/internal/rules/intent"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/text/spelling"
)

// Incoming is a message from outside, as accepted by POST /from-llm and POST /to-llm, see
// docs/chat.md.
type Incoming struct {
	SessionID string `json:"sessionId" jsonschema:"minLength=1,maxLength=256"` // The chat that the message belongs to.
	UserID    string `json:"userId,omitempty" jsonschema:"maxLength=128"`      // The user of the chat; default: the caller.
	// Sender is the author: user or assistant, depending on the endpoint.
	Sender job.Sender `json:"sender,omitempty"`
	// Content is the message as text.
	Content string `json:"content,omitempty" jsonschema:"maxLength=65536"`
	// Role is the same as the sender, in the AI SDK's terms. A message of the user may also have the role tool.
	Role job.Sender `json:"role,omitempty"`
	// Parts is the message as parts in the AI SDK's format, instead of content.
	Parts json.RawMessage `json:"parts,omitempty" jsonschema:"type=array"`
	// MessageType is the type of the message.
	MessageType job.MessageType `json:"messageType,omitempty"`
	// Destination is the receiver that an outside orchestrator addresses.
	Destination string `json:"destination,omitempty" jsonschema:"maxLength=64"`
	// LogID is the sender's id of the run.
	LogID string `json:"logId,omitempty" jsonschema:"maxLength=256"`
	// Props is a JSON object with further data.
	Props json.RawMessage `json:"props,omitempty" jsonschema:"type=object"`
	// By is the sender.
	By job.Actor `json:"-"`
	// ToolOutput is the output of a waiting call, if the Parts contain one.
	ToolOutput *ToolOutput `json:"-"`
}

// The members of a message's props that describe what its author was shown: the number of the
// question's message (0 or null if none was shown), the job, and whether the message may start another.
const (
	questionProp = "checkpoint_message_id"
	jobProp      = "request_id"
	startProp    = "may_start"
)

// shown describes the page next to which a message was written.
type shown struct {
	// question is the message of the question; 0 if there was none, nil if the sender does not say: then
	// any open question may be meant.
	question *int64
	// to is the job for which the message is meant.
	to lifecycle.Addressee
}

func (s shown) names(c job.Checkpoint) bool { return s.question != nil && *s.question == c.MessageID }

// includes reports whether a page shows a question, as far as the sender says what it shows. An orchestrator's
// question belongs to no job: it is next to any, if it is named.
func (s shown) includes(c job.Checkpoint) bool {
	besideJob := s.to.Job == "" || s.to.Job == c.RequestID || c.RequestID == "" && s.question != nil
	return besideJob && (s.question == nil || s.names(c))
}

// shown returns what the author of a message was shown. Error: Invalid, because a message whose
// question or job cannot be identified must not reach another one.
func (m Incoming) shown() (s shown, err error) {
	for name, value := range job.Members(m.Props) {
		switch name {
		case questionProp:
			if s.question = new(int64); string(value) != "null" && (job.UnmarshalExact(value, s.question) != nil || *s.question < 0) {
				return s, job.InvalidField("/props/"+name, "expected the number of the question's message, or null if none was shown")
			}
		case jobProp:
			if job.UnmarshalExact(value, &s.to.Job) != nil || s.to.Job == "" {
				return s, job.InvalidField("/props/"+name, "expected the requestId of the job that was shown")
			}
		case startProp:
			var may *bool
			if job.UnmarshalExact(value, &may) != nil || may == nil {
				return s, job.InvalidField("/props/"+name, "expected true or false: whether the message may start another job")
			}
			s.to.NoStart = !*may
		default:
			meant := spelling.Nearest(name, []string{questionProp, jobProp, startProp})
			if meant != "" && (meant != startProp || strings.EqualFold(strings.ReplaceAll(name, "_", ""), "maystart")) { // day_start is none
				return s, job.InvalidField("/props"+job.Pointer(name), "is not a known member; expected "+meant)
			}
		}
	}
	return s, nil
}

func (m Incoming) body(sender job.Sender) job.MessageBody {
	b := job.Text(sender, m.Content)
	b.Destination, b.LogID, b.Props, b.By = m.Destination, m.LogID, m.Props, m.By.SpeaksFor(m.UserID)
	if m.MessageType != "" {
		b.MessageType = m.MessageType
	}
	return b
}

// FromLLM stores a message of an outside orchestrator and returns its id. A message of type
// hitl_checkpoint is a question to the user.
func (s *Service) FromLLM(ctx context.Context, m Incoming) (int64, error) {
	if err := m.checkType(); err != nil {
		return 0, err
	}
	if m.MessageType != job.CheckpointMessage {
		return s.jobs.AppendMessage(ctx, m.UserID, m.SessionID, m.body(job.FromAssistant), nil)
	}
	var known job.Props
	if len(m.Props) > 0 {
		if err := job.UnmarshalExact(m.Props, &known); err != nil {
			return 0, job.InvalidField("/props", wrongProps(err))
		}
	}
	if err := checkAsked(known); err != nil {
		return 0, err
	}
	_, asked, err := s.Ask(ctx, Request{
		RunID: cmp.Or(known.RunID, m.LogID), UserID: m.UserID, SessionID: m.SessionID, Type: known.CheckpointType, Message: m.Content,
		Props: m.Props, LogID: m.LogID, Destination: m.Destination,
	})
	return asked.MessageID, err
}

func (m Incoming) checkType() error {
	if m.MessageType == job.WhichMessage || m.MessageType == job.NoticeMessage {
		return job.InvalidField("/messageType", `"`+string(m.MessageType)+`" is written by the server alone`)
	}
	return nil
}

// checkAsked refuses a question of an unknown type, or with an invalid run id.
func checkAsked(p job.Props) error {
	if !slices.Contains(job.CheckpointTypes[:], p.CheckpointType) {
		found := "is required but missing for a message of type hitl_checkpoint"
		if p.CheckpointType != "" {
			found = fmt.Sprintf("found %q", p.CheckpointType)
		}
		return job.InvalidField("/props/checkpoint_type", fmt.Sprintf("%s; allowed: %s", found, list(job.CheckpointTypes[:])))
	}
	if fault := job.RunNames.Fault(p.RunID); p.RunID != "" && fault != "" {
		return job.InvalidField("/props/run_id", fault)
	}
	if p.ResumeURL != "" && !outbound.IsWebAddress(p.ResumeURL) {
		return job.InvalidField("/props/resume_url", "expected an http or https URL with the name or the usual address of a host")
	}
	return nil
}

// ToLLM processes a user's message and returns its id. If a checkpoint is open in the session, the
// message is the reply to it. Otherwise it goes to the session's latest job, or starts a job that
// continues it.
func (s *Service) ToLLM(ctx context.Context, m Incoming) (int64, error) {
	if err := m.checkType(); err != nil {
		return 0, err
	}
	shown, err := m.shown()
	if err != nil {
		return 0, err
	}
	if m.ToolOutput != nil {
		return s.toolOutput(ctx, m, shown)
	}
	to, err := s.addresseeOf(ctx, m, shown)
	if err != nil {
		return 0, err
	}
	switch {
	case to.which != nil:
		return s.askWhich(ctx, m, to.which)
	case to.closed > 0:
		return s.noteClosed(ctx, m, to.closed)
	}
	if id, isReply, err := s.replyInChat(ctx, m, to, shown.question != nil); isReply || err != nil {
		return id, err
	}
	// Nothing was asked, or the question is closed by now: the message is a new one.
	shown.to.Late = to.checkpoint != nil || shown.question != nil && *shown.question > 0
	return s.jobs.AppendMessage(ctx, m.UserID, m.SessionID, m.body(job.FromUser), &shown.to)
}

// replyInChat replies to a question with a message, and returns its id. isReply is false if the question is closed by
// now. named is true if the user has seen that question, and no other.
func (s *Service) replyInChat(ctx context.Context, m Incoming, to addressee, named bool) (id int64, isReply bool, err error) {
	for c := to.checkpoint; c != nil; {
		id, err := s.reply(ctx, *c, Reply{
			Seen: Seen{Shown: shownInChat(*c)}, Text: to.text, Written: m.Content, By: m.By, LogID: m.LogID,
			Destination: m.Destination,
		})
		if !job.HasKind(err, job.Conflict) {
			return id, true, err
		}
		if named {
			break
		}
		next, err := s.follow(ctx, c.ID)
		if err != nil {
			return 0, false, err
		}
		if next.ID == c.ID || !next.Status.Waits() || allows(next, to.text) {
			break // it is not asked again, or the user has not seen the question as it is asked now
		}
		c = &next
	}
	return 0, false, nil
}

// shownInChat returns how a question is shown in the chat, which may leave out a part of the input.
func shownInChat(c job.Checkpoint) job.Shown {
	f, _ := parse(c)
	if f.omits() {
		return ""
	}
	return job.ShownInText(c)
}

// addresseeOf returns the checkpoint that a message replies to: the one that its author was shown,
// otherwise the one among the session's open checkpoints that it is about. If the author was shown
// none, or one that is closed by now, the message answers nothing. It never answers a question of
// another job than the one next to which it was written: if it names such a question, it is a Conflict.
func (s *Service) addresseeOf(ctx context.Context, m Incoming, shown shown) (addressee, error) {
	open, err := s.store.Checkpoints.OpenIn(ctx, m.UserID, m.SessionID)
	if err != nil {
		return addressee{}, err
	}
	if i := slices.IndexFunc(open, shown.names); i >= 0 && !shown.includes(open[i]) {
		return addressee{}, job.Errorf(
			job.Conflict, "Question %d belongs to job %s, not to %s: nothing was sent", open[i].MessageID, open[i].RequestID, shown.to.Job,
		).WithHint("Name the job of the question's message in props.%s, or none.", jobProp)
	}
	open = slices.DeleteFunc(open, func(c job.Checkpoint) bool { return !shown.includes(c) })
	switch {
	case shown.question == nil:
		return s.oneOf(ctx, m, open)
	case len(open) == 0:
		return addressee{}, nil
	}
	return addressee{checkpoint: &open[0], text: m.Content}, nil
}

// allows reports whether a text may be a yes to a question that approves something.
func allows(c job.Checkpoint, text string) bool {
	f, details := parse(c)
	return c.Type.Binding() && (details != nil || intent.Read(f.context(), text).Outcome == intent.Approve)
}
