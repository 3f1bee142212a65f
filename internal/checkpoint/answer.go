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
	"ringback/internal/store"
)

// Given is a reply as it comes in: at least one of its fields is set.
type Given struct {
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
func (s *Service) Reply(ctx context.Context, c job.Checkpoint, g Given) (job.Checkpoint, error) {
	if _, err := s.reply(ctx, c, g); err != nil {
		return c, err
	}
	return s.store.Checkpoint(ctx, c.ID)
}

// reply takes a reply, however it came, and returns the person's message. Where
// another one comes at the same moment, this one is worked out anew, as the later
// of the two: it is never dropped.
func (s *Service) reply(ctx context.Context, c job.Checkpoint, g Given) (int64, error) {
	for c.Status.Waits() {
		a, err := s.answer(c, g)
		if err != nil {
			return 0, err
		}
		id, err := s.store.Reply(ctx, c, a)
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
	return 0, store.Closed(c.ID, c.Status)
}

func isConflict(err error) bool {
	e, ok := errors.AsType[*job.Error](err)
	return ok && e.Kind == job.Conflict
}

// answer works out what a reply does.
func (s *Service) answer(c job.Checkpoint, g Given) (store.Answer, error) {
	q, details := parse(c)
	if details != nil {
		return store.Answer{}, fmt.Errorf("checkpoint %s holds props that are not valid: %v", c.ID, details)
	}
	if len(g.Text) > maxText {
		return store.Answer{}, refuse("/text", fmt.Sprintf("found %d bytes; at most %d are read", len(g.Text), maxText))
	}
	var a store.Answer
	err := q.checkSeen(g.Seen)
	switch {
	case err != nil:
	case g.Decision != "":
		a, err = q.decide(g)
	case g.Values != nil:
		a, err = q.fill(g)
	case strings.TrimSpace(g.Text) != "":
		a, err = s.understand(q, g.Text)
	default:
		err = refuse("", "expected at least one of decision, values and text")
	}
	if err != nil {
		return store.Answer{}, err
	}
	message := job.Text(job.FromUser, cmp.Or(g.Written, q.inWords(g)))
	message.LogID, message.Destination = g.LogID, g.Destination
	a.Message, a.By = &message, g.By
	a = after(a, q.plus(message.Content))
	if a.Reply.Decision == job.Approve {
		if a.Approval, err = s.permission(q, g); err != nil {
			return store.Answer{}, err
		}
	}
	a.Message.Props, err = json.Marshal(job.ReplyProps{
		InResponseTo: c.Type, ResolvesCheckpoint: true, CheckpointRunID: q.props.RunID, CheckpointMessageID: c.MessageID,
	})
	return a, err
}

// permission is what a yes permits, as it is stored.
func (s *Service) permission(q question, g Given) (store.Approval, error) {
	c := q.checkpoint
	p, fault := approval.Permit(approval.Request{
		Type: c.Type, UserID: c.UserID, RequestID: c.RequestID, Kind: q.props.Kind, Rule: q.props.Rule,
	}, g.Scope, s.opts.ApprovalTimeout)
	if fault != "" {
		return store.Approval{}, refuse("/scope", fault)
	}
	stored := store.Approval{Scope: p.Scope, TTL: p.Life}
	if p.Standing != nil {
		stored.Standing = *p.Standing
		stored.Standing.ID = store.NewApprovalID(c.UserID)
	}
	return stored, nil
}

func refuse(path, message string) error {
	e := job.Errorf(job.Invalid, "Invalid reply")
	e.Details = []job.Detail{{Path: path, Message: message}}
	return e
}

// decide takes a decision that was given outright.
func (q question) decide(g Given) (store.Answer, error) {
	binding := q.checkpoint.Type.Binding()
	if q.checkpoint.Type == job.Review {
		return q.review(job.Reply{Decision: g.Decision, Text: g.Text, Reason: g.Text, Confidence: 1})
	}
	switch {
	case g.Decision == job.Cancel && !binding:
		return q.cancel(g.Text), nil
	case g.Values != nil && (q.checkpoint.Type != job.ToolApproval || g.Decision != job.Approve):
		return store.Answer{}, refuse("/values", "only the input of a tool call can be changed while it is approved")
	case binding && g.Decision == job.Steer && strings.TrimSpace(g.Text) == "":
		return store.Answer{}, refuse("/text", "is required but missing; expected what to change")
	case binding && (g.Decision == job.Approve || g.Decision == job.Deny || g.Decision == job.Steer):
		return answered(job.Reply{Decision: g.Decision, Values: g.Values, Text: g.Text, Reason: g.Text, Confidence: 1}), nil
	case binding:
		return store.Answer{}, refuse("/decision", fmt.Sprintf("found %q; allowed: approve, deny, steer", g.Decision))
	}
	return store.Answer{}, refuse("/decision", fmt.Sprintf("found %q; this checkpoint asks for values: allowed is cancel, else send values or text", g.Decision))
}

func answered(r job.Reply) store.Answer { return store.Answer{To: job.Answered, Reply: r} }

// review takes a decision on a change (seed 001).
func (q question) review(r job.Reply) (store.Answer, error) {
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
		if q.overLimit() {
			return a, lifecycle.SteeringLimit(q.props.Iteration)
		}
		return a, nil
	case job.Cancel:
	}
	return a, refuse("/decision", fmt.Sprintf("found %q; allowed: approve, deny, steer", r.Decision))
}

// cancel ends the job: the person wants none of it any more.
func (q question) cancel(text string) store.Answer {
	a := answered(job.Reply{Decision: job.Cancel, Text: text, Confidence: 1})
	a.End, a.Code, a.Why = job.Cancelled, job.CodeCancelled, "Cancelled in the chat."
	return a
}

// fill takes values that were given outright.
func (q question) fill(g Given) (store.Answer, error) {
	if q.checkpoint.Type.Binding() {
		return store.Answer{}, refuse("/values", "this checkpoint asks for a decision: approve or deny")
	}
	values := q.merged(g.Values)
	if details := q.problems(values, "/values"); details != nil {
		e := job.Errorf(job.Invalid, "Invalid reply")
		e.Details = details
		return store.Answer{}, e
	}
	return answered(job.Reply{Values: values, Text: g.Text, Confidence: 1}), nil
}

// merged adds values to those known from earlier rounds.
func (q question) merged(values map[string]any) map[string]any {
	all := maps.Clone(q.props.CurrentValues)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, values)
	return all
}

// inWords is how a structured reply reads in the chat.
func (q question) inWords(g Given) string {
	switch {
	case g.Decision == job.Steer:
		return lifecycle.SteerMessage(g.Text)
	case strings.TrimSpace(g.Text) != "":
		return g.Text
	case g.Decision == job.Approve:
		return inChat(q.props.Yes, "Approve")
	case g.Decision == job.Deny:
		return inChat(q.props.No, "Deny")
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
func (s *Service) understand(q question, text string) (store.Answer, error) {
	r := intent.Read(q.words(), text)
	base := job.Reply{Text: text, Confidence: r.Confidence, Reason: r.Reason}
	switch r.Outcome {
	case intent.Approve, intent.Deny, intent.Steer:
		if r.Outcome == intent.Steer && q.overLimit() {
			// Nobody may hear of an error who writes in a chat: it is said there.
			limit := lifecycle.SteeringLimit(q.props.Iteration)
			return q.again(base, nil, limit.Message+". "+limit.Hint), nil
		}
		base.Decision = job.Decision(r.Outcome)
		if q.checkpoint.Type == job.Review {
			return q.review(base)
		}
		return answered(base), nil
	case intent.Cancel:
		return q.cancel(text), nil
	case intent.Values:
		if q.checkpoint.Status != job.Reading || q.asksForOne() {
			return q.take(base, r.Values, r.Missing), nil
		}
		return q.toRead(base, r.Values), nil
	case intent.Unclear:
	}
	if q.freeText() {
		return answered(base), nil
	}
	if s.mayAskClaude(q) {
		return q.toRead(base, nil), nil
	}
	return q.askedBack(r).again(base, nil, r.Question), nil
}

// askedBack is a question that asks for a decision once more: it keeps what it
// first was, and what the person is offered to have handed on.
func (q question) askedBack(r intent.Reading) question {
	if !q.checkpoint.Type.Binding() {
		return q
	}
	if q.checkpoint.Type != job.Review { // a review's is long, and read against by nobody
		q.props.OriginalQuestion = q.original()
	}
	q.props.OfferedChange = r.Offer
	q.props.SuggestedReplies = slices.DeleteFunc(slices.Clone(q.props.SuggestedReplies), func(text string) bool { return text == intent.ChangeIt })
	if r.Offer != "" {
		q.props.SuggestedReplies = append(q.props.SuggestedReplies, intent.ChangeIt)
	}
	return q
}

// asksForOne reports whether one value is the whole answer: then the latest word
// on it settles what was being read.
func (q question) asksForOne() bool { return q.form == nil || len(q.form.order) == 1 }

// toRead lets Claude read a reply, together with those that it was reading
// already. Values that were understood are kept beside.
func (q question) toRead(base job.Reply, values map[string]any) store.Answer {
	base.Values = q.merged(normal(values))
	if len(base.Values) == 0 {
		base.Values = nil
	}
	if q.checkpoint.Status == job.Reading && q.checkpoint.Reply != nil {
		base.Text = latest(q.checkpoint.Reply.Text + "\n" + base.Text)
	}
	return store.Answer{To: job.Reading, Reply: base}
}

// latest is the end of what was said, as much as is read of a reply.
func latest(text string) string {
	return excerpt.Last(text, maxText)
}

// take keeps values that were read from a text, and asks for what is missing or
// does not fit.
func (q question) take(base job.Reply, values map[string]any, missing []string) store.Answer {
	base.Values = q.merged(normal(values))
	details := q.problems(base.Values, "")
	if len(details) == 0 && len(missing) == 0 {
		return answered(base)
	}
	for _, d := range details {
		delete(base.Values, firstName(d.Path))
	}
	return q.again(base, base.Values, q.whatIsMissing(base.Values, details))
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
func (q question) freeText() bool {
	return q.checkpoint.Type == job.InformationRequest && q.form == nil && len(q.props.ValidValues) == 0
}

// mayAskClaude reports whether Claude may be asked what a reply means: never
// where something is decided.
func (s *Service) mayAskClaude(q question) bool {
	return s.jobs.CanInterpret() && !q.checkpoint.Type.Binding()
}

const notUnderstood = "I did not understand that. "

// whatIsMissing asks for what a reply left open.
func (q question) whatIsMissing(known map[string]any, details []job.Detail) string {
	var wrong []string
	for _, d := range details {
		name := firstName(d.Path)
		if _, isKnown := known[name]; isKnown || name == "" {
			continue
		}
		wrong = append(wrong, q.label(name))
	}
	slices.Sort(wrong)
	wrong = slices.Compact(wrong)
	if len(wrong) == 0 {
		return notUnderstood + strings.TrimPrefix(q.checkpoint.Message, notUnderstood)
	}
	return "Thank you. I still need: " + strings.Join(wrong, "; ") + "."
}

// label describes a value to a person.
func (q question) label(name string) string {
	if q.form == nil {
		return name
	}
	p := q.form.properties[name]
	text := name
	if about := cmp.Or(p.Title, p.Description); about != "" {
		text += " (" + about + ")"
	}
	if len(p.Enum) > 0 {
		text += ", one of " + list(p.Enum)
	}
	return text
}

// again asks once more, keeping what is known.
func (q question) again(base job.Reply, known map[string]any, message string) store.Answer {
	c := q.checkpoint
	next := q
	next.checkpoint.Message = message
	if known != nil {
		next.props.CurrentValues = known
	}
	asking := Asking{
		RequestID: c.RequestID, RunID: q.props.RunID, UserID: c.UserID, SessionID: c.SessionID, Type: c.Type, Message: message,
	}
	composed, err := compose(next, asking)
	if err != nil { // what was read from JSON can be written as JSON
		panic("checkpoint: " + err.Error())
	}
	return store.Answer{To: job.Clarified, Reply: base, Again: &composed}
}
