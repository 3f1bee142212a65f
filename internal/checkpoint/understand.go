package checkpoint

import (
	"encoding/json"
	"slices"
	"strings"

	"ringback/internal/checkpoint/intent"
	"ringback/internal/excerpt"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// understand interprets a reply in words.
func (s *Service) understand(f form, text string) (lifecycle.Resolution, error) {
	r := intent.Read(f.context(), text)
	base := job.Reply{Text: text, Confidence: r.Confidence, Reason: r.Reason}
	switch r.Outcome {
	case intent.Approve, intent.Deny, intent.Steer:
		if r.Outcome == intent.Steer && f.overLimit() {
			// Chat users may not see an error, so ask again in the chat.
			limit := lifecycle.SteeringLimit(f.props.Iteration)
			return f.askAgain(base, nil, limit.Message+". "+limit.Hint), nil
		}
		base.Decision = job.Decision(r.Outcome)
		switch {
		case f.checkpoint.Type == job.Review:
			return f.review(base)
		case base.Decision == job.Approve && f.props.Asked != nil && f.props.Asked.Omitted > 0:
			return f.askWhole(base), nil
		case base.Decision == job.Approve && f.props.Preview != nil && f.props.Preview.Format == job.PreviewImage:
			return f.askedBack(intent.Reading{}).askAgain(base, nil, onlyAsImage+strings.TrimPrefix(f.checkpoint.Message, onlyAsImage)), nil
		}
		a := answered(base)
		if r.SaidCancel {
			a.Note = `That was taken as a no to this question alone. To give the whole job up, write "cancel the job".`
		}
		return a, nil
	case intent.Cancel:
		return f.cancel(text), nil
	case intent.Values:
		if f.checkpoint.Status != job.Interpreting || f.asksForOne() {
			return f.take(base, r.Values, r.Missing), nil
		}
		return f.interpret(base, r.Values), nil
	case intent.Unclear:
	}
	if f.freeText() {
		return answered(base), nil
	}
	if s.mayAskClaude(f) {
		return f.interpret(base, nil), nil
	}
	return f.askedBack(r).askAgain(base, nil, r.Question), nil
}

// askedBack returns a form that asks for a decision again. It keeps the original question and
// offers to use the reply as a change request.
func (f form) askedBack(r intent.Reading) form {
	if !f.checkpoint.Type.Binding() {
		return f
	}
	if f.checkpoint.Type != job.Review { // a review's question is long, and replies are not compared with it
		f.props.OriginalQuestion = f.original()
	}
	f.props.OfferedChange = r.Offer
	f.props.SuggestedReplies = slices.DeleteFunc(slices.Clone(f.props.SuggestedReplies), func(text string) bool { return text == intent.ChangeIt })
	if r.Offer != "" {
		f.props.SuggestedReplies = append(f.props.SuggestedReplies, intent.ChangeIt)
	}
	return f
}

// asksForOne reports whether a single value is the whole answer. The latest reply then settles what
// was being interpreted.
func (f form) asksForOne() bool { return f.values == nil || len(f.values.order) == 1 }

// interpret has Claude interpret a reply, together with earlier ones still being interpreted. It keeps
// the values that were already understood.
func (f form) interpret(base job.Reply, values map[string]any) lifecycle.Resolution {
	base.Values = f.merged(normal(values))
	if len(base.Values) == 0 {
		base.Values = nil
	}
	if f.checkpoint.Status == job.Interpreting && f.checkpoint.Reply != nil {
		base.Text = latest(f.checkpoint.Reply.Text + "\n" + base.Text)
	}
	return lifecycle.Resolution{To: job.Interpreting, Reply: base}
}

// latest returns the end of a text, at most as many bytes as a reply may have characters.
func latest(text string) string {
	return excerpt.Last(text, maxText)
}

// take stores the values found in a text and asks for those that are missing or invalid.
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

// normal converts values to the types that a schema checks: numbers as in JSON.
func normal(values map[string]any) map[string]any {
	text, err := json.Marshal(values)
	if err != nil {
		return values
	}
	var out map[string]any
	if job.UnmarshalExact(text, &out) != nil {
		return values
	}
	return out
}

func firstName(pointer string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return name
}

// freeText reports whether any words are a valid answer, because no values are specified.
func (f form) freeText() bool {
	return f.checkpoint.Type == job.InformationRequest && f.values == nil && len(f.props.ValidValues) == 0
}

// mayAskClaude reports whether Claude may interpret a reply. It never may if the question asks for
// a decision.
func (s *Service) mayAskClaude(f form) bool {
	return s.jobs.CanInterpret() && !f.checkpoint.Type.Binding()
}
