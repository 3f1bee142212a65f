package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// Request is a request to ask a person a question in a chat.
type Request struct {
	// RequestID is the job that asks; empty if an outside orchestrator asks.
	RequestID job.ID
	// Holder is the node that asks, see lifecycle.NewCheckpoint.
	Holder lifecycle.Holder
	// RunID is an outside orchestrator's name for its run.
	RunID     string
	UserID    string
	SessionID string
	Type      job.CheckpointType
	Message   string
	Props     json.RawMessage
	// Preview shows what the action would do; nil for none. It is not part of Props, so that a
	// repeated question is recognised even if the preview has changed.
	Preview *job.Preview
	// Asked describes what needs approval, in parts; nil if there is only the message.
	Asked *job.Asked
	// Parts are shown next to the message.
	Parts []job.Part
	// ApprovalKey identifies what an approval would be for. AuditFields are the same for the audit
	// log.
	ApprovalKey string
	AuditFields job.Operation
	// ToolCallID is the question's id as a tool call among the Parts.
	ToolCallID string
	// LogID and Destination are stored with the message of an outside orchestrator.
	LogID       string
	Destination string
	// Hold makes the call wait for a reply.
	Hold bool
	// MaxIterations limits how often a change under review may be steered, and NotPublished is why the
	// change approved before was not published, see lifecycle.NewCheckpoint.
	MaxIterations int
	NotPublished  string
}

// Ask asks a person a question. The outcome is that of lifecycle.Service.Ask. Error: Invalid, with
// details, if the question is invalid.
func (s *Service) Ask(ctx context.Context, a Request) (outcome lifecycle.Outcome, asked job.Checkpoint, err error) {
	f, details := parse(job.Checkpoint{Type: a.Type, Message: a.Message, Props: a.Props})
	for name, words := range map[string]*job.AnswerProps{"yes": f.props.Yes, "no": f.props.No} {
		if words != nil && a.Asked == nil {
			details = append(details, job.Detail{
				Path: "/props/" + name, Message: "only the confirmation of a kind's action has this field: leave it out",
			})
		}
	}
	if len(f.props.ValidValues) > 0 && f.field() == "" { // not in parse, which reads what an earlier version has asked, too
		details = append(details, job.Detail{
			Path: "/props/error_field", Message: "is required but missing; expected the field of the schema that valid_values are for",
		})
	}
	if details != nil {
		return outcome, asked, job.Errorf(job.Invalid, "Invalid request").WithDetails(details...)
	}
	f.props.OriginalQuestion, f.props.OfferedChange, f.props.Asked = "", "", nil // whatever the asker's props contain
	if a.Asked != nil {
		counted := *a.Asked
		counted.Counted, f.props.Asked = true, &counted
	}
	f.props.Preview = a.Preview
	if a.Type.Binding() && a.Asked == nil { // its buttons say what they do, not what the asker wants them to say
		f.props.SuggestedReplies = nil
	}
	made := compose(f, a)
	if a.Hold {
		made.Hold = s.opts.Hold
	}
	outcome, id, message, err := s.jobs.Ask(ctx, made)
	return outcome, job.Checkpoint{ID: id, Type: a.Type, RequestID: a.RequestID, MessageID: message}, err
}

// compose returns the question in the form that the store keeps.
func compose(f form, a Request) lifecycle.NewCheckpoint {
	run := a.RunID
	if a.RequestID != "" {
		run = string(a.RequestID)
	}
	message, props := f.complete(run)
	chat := job.Text(job.FromAssistant, withPreview(message, f.props.Preview))
	chat.MessageType, chat.Props, chat.LogID, chat.Destination = job.CheckpointMessage, props, cmp.Or(
		a.LogID, run,
	), cmp.Or(a.Destination, "user")
	chat.Parts = append(chat.Parts, a.Parts...)
	return lifecycle.NewCheckpoint{
		RequestID: a.RequestID, Holder: a.Holder, UserID: a.UserID, SessionID: a.SessionID, Type: a.Type, Message: message,
		Props: props,
		Chat:  chat, Digest: digestOf(a), ApprovalKey: a.ApprovalKey, AuditFields: a.AuditFields, ToolCallID: a.ToolCallID,
		MaxIterations: a.MaxIterations, NotPublished: a.NotPublished,
	}
}

// onlyAsImage asks again after a yes in words to a preview that words cannot show.
const onlyAsImage = "What this would do is an image, which is not shown here: look at it in the console's inbox, and decide there. "

// withPreview adds a preview to a question in a chat, as a code block that its content cannot end.
// For an image, it refers to the console.
func withPreview(message string, p *job.Preview) string {
	if p == nil {
		return message
	}
	return message + p.Words(previewBlock)
}

func previewBlock(p *job.Preview) string {
	text := strings.Join(p.Lines(), "\n")
	if p.Format == job.PreviewImage {
		return " an image. Look at it in the console before you decide."
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return "\n\n" + fence + "\n" + text + "\n" + fence
}

// digestOf identifies a question, so that it is recognised if it is asked again because its answer
// was lost. If a tool call that only asks was cut off, Claude asks the same with another call.
func digestOf(a Request) string {
	props := string(a.Props)
	var members any
	if !a.Type.Binding() && a.ToolCallID == "" && job.UnmarshalExact(a.Props, &members) == nil {
		props = string(job.MustJSON(members)) // in any order, it is the same question
	}
	if a.ToolCallID != "" && a.ApprovalKey == "" {
		props = strings.Replace(props, a.ToolCallID, "", 1)
	}
	return job.Digest([]byte(strings.Join([]string{string(a.Type), a.Message, props, a.ApprovalKey, ""}, "\x00")))
}
