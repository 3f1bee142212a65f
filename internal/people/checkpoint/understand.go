package checkpoint

import (
	"cmp"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/intent"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/text/excerpt"
)

func (s *Service) understand(f form, g Reply) (lifecycle.Resolution, error) {
	r := intent.Read(f.context(), g.Text)
	base := job.Reply{Text: g.Text, Reason: r.Reason}
	if r.Outcome != intent.Unclear {
		base.Confidence = 1
	}
	switch r.Outcome {
	case intent.Approve, intent.Deny, intent.Steer:
		return f.decideInWords(base, r, g.Shown)
	case intent.Cancel:
		return f.cancel(g.Text), nil
	case intent.Values:
		if f.checkpoint.Status != job.Interpreting || len(f.fields()) == 1 { // the latest reply is the whole answer
			return f.withValues(base, r.Values), nil
		}
		return f.interpret(base, r.Values), nil
	case intent.Unclear:
	}
	switch {
	case f.checkpoint.Type.Binding(): // Claude never interprets a decision
	case len(f.fields()) == 0: // any words are an answer
		return answered(base), nil
	case s.jobs.CanInterpret():
		return f.interpret(base, nil), nil
	}
	return f.askedBack(r).askAgain(base, nil, cmp.Or(r.Question, f.repeated())), nil
}

// decideInWords processes a decision that was given in words. Asked again, the reply has decided nothing.
func (f form) decideInWords(base job.Reply, r intent.Reading, shown job.Shown) (lifecycle.Resolution, error) {
	approves := r.Outcome == intent.Approve
	switch {
	case r.Outcome == intent.Steer && f.overLimit(): // chat users may not see an error
		limit := lifecycle.SteeringLimit(f.props.Iteration)
		return f.askAgain(base, nil, limit.Message+". "+limit.Hint), nil
	case f.checkpoint.Type == job.Review:
		base.Decision = job.Decision(r.Outcome)
		return f.review(base)
	case approves && f.omits() && shown == "":
		return f.askWhole(base), nil
	case approves && f.props.Preview != nil && f.props.Preview.Format == job.PreviewImage:
		again := onlyAsImage + strings.TrimPrefix(f.checkpoint.Message, onlyAsImage)
		return f.askedBack(intent.Reading{}).askAgain(base, nil, again), nil
	}
	base.Decision = job.Decision(r.Outcome)
	a := answered(base)
	if r.SaidCancel {
		a.Note = `That was understood as a no to this question only. To cancel the whole job, write "cancel the job".`
	}
	return a, nil
}

// omits reports whether the message of a question leaves out a part of the input, or may do so.
func (f form) omits() bool {
	asked := f.props.Asked
	return asked != nil && (asked.Omitted > 0 || !asked.Counted && f.checkpoint.Question().Exact != "")
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
	f.props.SuggestedReplies = slices.DeleteFunc(
		slices.Clone(f.props.SuggestedReplies), func(text string) bool { return text == intent.ChangeIt },
	)
	if r.Offer != "" {
		f.props.SuggestedReplies = append(f.props.SuggestedReplies, intent.ChangeIt)
	}
	return f
}

// interpret has Claude interpret a reply, together with earlier ones still being interpreted. It keeps
// the values that were already understood.
func (f form) interpret(base job.Reply, values map[string]any) lifecycle.Resolution {
	base.Values = f.merged(values)
	if f.checkpoint.Status == job.Interpreting && f.checkpoint.Reply != nil {
		base.Text = excerpt.Last(f.checkpoint.Reply.Text+"\n"+base.Text, maxText)
	}
	return lifecycle.Resolution{To: job.Interpreting, Reply: base}
}

func (f form) withValues(base job.Reply, values map[string]any) lifecycle.Resolution {
	base.Values = f.merged(values)
	details := f.problems(base.Values, "")
	if len(details) == 0 {
		return answered(base)
	}
	for _, d := range details {
		delete(base.Values, firstName(d.Path))
	}
	return f.askAgain(base, base.Values, f.whatIsMissing(base.Values, details))
}

func firstName(pointer string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return name
}
