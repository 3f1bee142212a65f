package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringback/internal/approval"
	"ringback/internal/checkpoint/intent"
	"ringback/internal/excerpt"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// Reply is a reply as it comes in: at least one of its fields is set.
type Reply struct {
	Decision job.Decision   `json:"decision"`
	Values   map[string]any `json:"values"`
	Text     string         `json:"text"`
	// Scope is how far an approval of a tool call goes: once, job or always.
	Scope job.ApprovalScope `json:"scope"`
	// Seen is what they have looked at.
	Seen
	// By is who replies.
	By job.Actor `json:"-"`
	// Written is the whole message where Text is but what it says of this question.
	Written string `json:"-"`
	// LogID and Destination are kept with the message of a reply in the chat.
	LogID       string `json:"-"`
	Destination string `json:"-"`
}

// maxText bounds a reply in characters.
const maxText = 20_000

// Reply takes a person's reply to a checkpoint. It returns the checkpoint as it
// is then: answered, being read, or clarified with Next asking again. Errors:
// Invalid for a reply that does not fit, Conflict for a checkpoint that no
// longer waits.
func (s *Service) Reply(ctx context.Context, c job.Checkpoint, g Reply) (job.Checkpoint, error) {
	if _, err := s.reply(ctx, c, g); err != nil {
		return c, err
	}
	return s.store.Checkpoint(ctx, c.ID)
}

// reply takes a reply, however it came, and returns the person's message. Where
// another one comes at the same moment, this one is worked out anew, as the later
// of the two: it is never dropped.
func (s *Service) reply(ctx context.Context, c job.Checkpoint, g Reply) (int64, error) {
	for c.Status.Waits() {
		a, err := s.answer(c, g)
		if err != nil {
			return 0, err
		}
		id, err := s.jobs.Answer(ctx, c, a)
		if err == nil {
			s.log.Info("User responding to HITL checkpoint: "+string(c.Type), "checkpointId", c.ID, "requestId", c.RequestID, "outcome", a.To)
			return id, nil
		}
		if !isConflict(err) {
			return 0, err
		}
		if c, err = s.store.Checkpoint(ctx, c.ID); err != nil {
			return 0, err
		}
	}
	return 0, job.ClosedCheckpoint(c.ID, c.Status)
}

func isConflict(err error) bool {
	e, ok := errors.AsType[*job.Error](err)
	return ok && e.Kind == job.Conflict
}

// answer works out what a reply does.
func (s *Service) answer(c job.Checkpoint, g Reply) (lifecycle.Resolution, error) {
	f, details := parse(c)
	if details != nil {
		return lifecycle.Resolution{}, fmt.Errorf("checkpoint %s holds props that are not valid: %v", c.ID, details)
	}
	if len(g.Text) > maxText {
		return lifecycle.Resolution{}, refuse("/text", fmt.Sprintf("found %d bytes; at most %d are read", len(g.Text), maxText))
	}
	var a lifecycle.Resolution
	err := f.checkSeen(g.Seen)
	switch {
	case err != nil:
	case g.Decision != "":
		a, err = f.decide(g)
	case g.Values != nil:
		a, err = f.fill(g)
	case strings.TrimSpace(g.Text) != "":
		a, err = s.understand(f, g.Text)
	default:
		err = refuse("", "expected at least one of decision, values and text")
	}
	if err != nil {
		return lifecycle.Resolution{}, err
	}
	message := job.Text(job.FromUser, cmp.Or(g.Written, f.summaryText(g)))
	message.LogID, message.Destination = g.LogID, g.Destination
	a.Message, a.By = &message, g.By
	a = withExchange(a, f.exchangeWith(message.Content))
	if a.Reply.Decision == job.Approve {
		if a.Approval, err = s.permission(f, g); err != nil {
			return lifecycle.Resolution{}, err
		}
	}
	a.Message.Props, err = json.Marshal(job.ReplyProps{
		InResponseTo: c.Type, ResolvesCheckpoint: true, CheckpointRunID: f.props.RunID, CheckpointMessageID: c.MessageID,
	})
	return a, err
}

// permission is what a yes permits, as it is stored.
func (s *Service) permission(f form, g Reply) (lifecycle.ApprovalTerms, error) {
	c := f.checkpoint
	p, fault := approval.Permit(approval.Request{
		Type: c.Type, UserID: c.UserID, RequestID: c.RequestID, Kind: f.props.Kind, Rule: f.props.Rule,
	}, g.Scope, s.opts.ApprovalTimeout)
	if fault != "" {
		return lifecycle.ApprovalTerms{}, refuse("/scope", fault)
	}
	stored := lifecycle.ApprovalTerms{Scope: p.Scope, TTL: p.Life}
	if p.Standing != nil {
		stored.Standing = *p.Standing
		stored.Standing.ID = s.store.NewID(job.ApprovalIDs, c.UserID)
	}
	return stored, nil
}

func refuse(path, message string) error {
	e := job.Errorf(job.Invalid, "Invalid reply")
	e.Details = []job.Detail{{Path: path, Message: message}}
	return e
}

// decide takes a decision that was given outright.
func (f form) decide(g Reply) (lifecycle.Resolution, error) {
	binding := f.checkpoint.Type.Binding()
	if f.checkpoint.Type == job.Review {
		return f.review(job.Reply{Decision: g.Decision, Text: g.Text, Reason: g.Text, Confidence: 1})
	}
	switch {
	case g.Decision == job.Cancel && !binding:
		return f.cancel(g.Text), nil
	case g.Values != nil && (f.checkpoint.Type != job.ToolApproval || g.Decision != job.Approve):
		return lifecycle.Resolution{}, refuse("/values", "only the input of a tool call can be changed while it is approved")
	case binding && g.Decision == job.Steer && strings.TrimSpace(g.Text) == "":
		return lifecycle.Resolution{}, refuse("/text", "is required but missing; expected what to change")
	case binding && (g.Decision == job.Approve || g.Decision == job.Deny || g.Decision == job.Steer):
		return answered(job.Reply{Decision: g.Decision, Values: g.Values, Text: g.Text, Reason: g.Text, Confidence: 1}), nil
	case binding:
		return lifecycle.Resolution{}, refuse("/decision", fmt.Sprintf("found %q; allowed: approve, deny, steer", g.Decision))
	}
	return lifecycle.Resolution{}, refuse("/decision", fmt.Sprintf("found %q; this checkpoint asks for values: allowed is cancel, else send values or text", g.Decision))
}

func answered(r job.Reply) lifecycle.Resolution {
	return lifecycle.Resolution{To: job.Answered, Reply: r}
}

// review takes a decision on a change, see docs/steering.md.
func (f form) review(r job.Reply) (lifecycle.Resolution, error) {
	a := answered(r)
	switch r.Decision {
	case job.Approve:
		return a, nil
	case job.Deny:
		a.End, a.Code, a.Why = job.Rejected, job.CodeRejected, "The change was rejected."
		return a, nil
	case job.Steer:
		if err := lifecycle.CheckPrompt(r.Reason); err != nil {
			return a, err
		}
		if f.overLimit() {
			return a, lifecycle.SteeringLimit(f.props.Iteration)
		}
		return a, nil
	case job.Cancel:
	}
	return a, refuse("/decision", fmt.Sprintf("found %q; allowed: approve, deny, steer", r.Decision))
}

// cancel ends the job: the person wants none of it any more.
func (f form) cancel(text string) lifecycle.Resolution {
	a := answered(job.Reply{Decision: job.Cancel, Text: text, Confidence: 1})
	a.End, a.Code, a.Why = job.Cancelled, job.CodeCancelled, "Cancelled in the chat."
	return a
}

// fill takes values that were given outright.
func (f form) fill(g Reply) (lifecycle.Resolution, error) {
	if f.checkpoint.Type.Binding() {
		return lifecycle.Resolution{}, refuse("/values", "this checkpoint asks for a decision: approve or deny")
	}
	values := f.merged(g.Values)
	if details := f.problems(values, "/values"); details != nil {
		e := job.Errorf(job.Invalid, "Invalid reply")
		e.Details = details
		return lifecycle.Resolution{}, e
	}
	return answered(job.Reply{Values: values, Text: g.Text, Confidence: 1}), nil
}

// merged adds values to those known from earlier rounds.
func (f form) merged(values map[string]any) map[string]any {
	all := maps.Clone(f.props.CurrentValues)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, values)
	return all
}

// summaryText is how a structured reply reads in the chat.
func (f form) summaryText(g Reply) string {
	switch {
	case g.Decision == job.Steer:
		return lifecycle.SteerMessage(g.Text)
	case strings.TrimSpace(g.Text) != "":
		return g.Text
	case g.Decision == job.Approve:
		return inChat(f.props.Yes, "Approve")
	case g.Decision == job.Deny:
		return inChat(f.props.No, "Deny")
	case g.Decision == job.Cancel:
		return "Cancel"
	}
	names := slices.Sorted(maps.Keys(g.Values))
	lines := make([]string, len(names))
	for i, name := range names {
		lines[i] = name + ": " + valueText(g.Values[name])
	}
	return strings.Join(lines, "\n")
}

// valueText is a value as it was given: text as it is, all else as JSON.
func valueText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// inChat is how an answer reads in the chat.
func inChat(a *job.AnswerProps, otherwise string) string {
	if a == nil {
		return otherwise
	}
	return a.Message
}

// understand reads a reply in words.
func (s *Service) understand(f form, text string) (lifecycle.Resolution, error) {
	r := intent.Read(f.context(), text)
	base := job.Reply{Text: text, Confidence: r.Confidence, Reason: r.Reason}
	switch r.Outcome {
	case intent.Approve, intent.Deny, intent.Steer:
		if r.Outcome == intent.Steer && f.overLimit() {
			// Nobody may hear of an error who writes in a chat: it is said there.
			limit := lifecycle.SteeringLimit(f.props.Iteration)
			return f.askAgain(base, nil, limit.Message+". "+limit.Hint), nil
		}
		base.Decision = job.Decision(r.Outcome)
		if f.checkpoint.Type == job.Review {
			return f.review(base)
		}
		return answered(base), nil
	case intent.Cancel:
		return f.cancel(text), nil
	case intent.Values:
		if f.checkpoint.Status != job.Interpreting || f.asksForOne() {
			return f.take(base, r.Values, r.Missing), nil
		}
		return f.toRead(base, r.Values), nil
	case intent.Unclear:
	}
	if f.freeText() {
		return answered(base), nil
	}
	if s.mayAskClaude(f) {
		return f.toRead(base, nil), nil
	}
	return f.askedBack(r).askAgain(base, nil, r.Question), nil
}

// askedBack is a question that asks for a decision once more: it keeps what it
// first was, and what the person is offered to have handed on.
func (f form) askedBack(r intent.Reading) form {
	if !f.checkpoint.Type.Binding() {
		return f
	}
	if f.checkpoint.Type != job.Review { // a review's is long, and read against by nobody
		f.props.OriginalQuestion = f.original()
	}
	f.props.OfferedChange = r.Offer
	f.props.SuggestedReplies = slices.DeleteFunc(slices.Clone(f.props.SuggestedReplies), func(text string) bool { return text == intent.ChangeIt })
	if r.Offer != "" {
		f.props.SuggestedReplies = append(f.props.SuggestedReplies, intent.ChangeIt)
	}
	return f
}

// asksForOne reports whether one value is the whole answer: then the latest word
// on it settles what was being read.
func (f form) asksForOne() bool { return f.values == nil || len(f.values.order) == 1 }

// toRead lets Claude read a reply, together with those that it was reading
// already. Values that were understood are kept beside.
func (f form) toRead(base job.Reply, values map[string]any) lifecycle.Resolution {
	base.Values = f.merged(normal(values))
	if len(base.Values) == 0 {
		base.Values = nil
	}
	if f.checkpoint.Status == job.Interpreting && f.checkpoint.Reply != nil {
		base.Text = latest(f.checkpoint.Reply.Text + "\n" + base.Text)
	}
	return lifecycle.Resolution{To: job.Interpreting, Reply: base}
}

// latest is the end of what was said, as much as is read of a reply.
func latest(text string) string {
	return excerpt.Last(text, maxText)
}

// take keeps values that were read from a text, and asks for what is missing or
// does not fit.
func (f form) take(base job.Reply, values map[string]any, missing []string) lifecycle.Resolution {
	base.Values = f.merged(normal(values))
	details := f.problems(base.Values, "")
	if len(details) == 0 && len(missing) == 0 {
		return answered(base)
	}
	for _, d := range details {
		delete(base.Values, firstName(d.Path))
	}
	return f.askAgain(base, base.Values, f.whatIsMissing(base.Values, details))
}

// normal gives values the types that a schema checks: numbers as in JSON.
func normal(values map[string]any) map[string]any {
	text, err := json.Marshal(values)
	if err != nil {
		return values
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var out map[string]any
	if dec.Decode(&out) != nil {
		return values
	}
	return out
}

func firstName(pointer string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return name
}

// freeText reports whether any words will do as the answer: nothing says what
// values they should hold.
func (f form) freeText() bool {
	return f.checkpoint.Type == job.InformationRequest && f.values == nil && len(f.props.ValidValues) == 0
}

// mayAskClaude reports whether Claude may be asked what a reply means: never
// where something is decided.
func (s *Service) mayAskClaude(f form) bool {
	return s.jobs.CanInterpret() && !f.checkpoint.Type.Binding()
}

const notUnderstood = "I did not understand that. "

// whatIsMissing asks for what a reply left open.
func (f form) whatIsMissing(known map[string]any, details []job.Detail) string {
	var wrong []string
	for _, d := range details {
		name := firstName(d.Path)
		if _, isKnown := known[name]; isKnown || name == "" {
			continue
		}
		wrong = append(wrong, f.label(name))
	}
	slices.Sort(wrong)
	wrong = slices.Compact(wrong)
	if len(wrong) == 0 {
		return notUnderstood + strings.TrimPrefix(f.checkpoint.Message, notUnderstood)
	}
	return "Thank you. I still need: " + strings.Join(wrong, "; ") + "."
}

// label describes a value to a person.
func (f form) label(name string) string {
	if f.values == nil {
		return name
	}
	p := f.values.properties[name]
	text := name
	if about := cmp.Or(p.Title, p.Description); about != "" {
		text += " (" + about + ")"
	}
	if len(p.Enum) > 0 {
		text += ", one of " + list(p.Enum)
	}
	return text
}

// askAgain asks once more, keeping what is known.
func (f form) askAgain(base job.Reply, known map[string]any, message string) lifecycle.Resolution {
	c := f.checkpoint
	next := f
	next.checkpoint.Message = message
	if known != nil {
		next.props.CurrentValues = known
	}
	asking := Request{
		RequestID: c.RequestID, RunID: f.props.RunID, UserID: c.UserID, SessionID: c.SessionID, Type: c.Type, Message: message,
	}
	composed, err := compose(next, asking)
	if err != nil { // what was read from JSON can be written as JSON
		panic("checkpoint: " + err.Error())
	}
	return lifecycle.Resolution{To: job.Superseded, Reply: base, Again: &composed}
}
