package checkpoint

import (
	"cmp"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/intent"
	"ringback/internal/rules/lifecycle"
)

const notUnderstood = "I did not understand that. "

// repeated returns the question after a reply that was not understood. It shows how
// to write an answer that needs no interpretation.
func (f form) repeated() string {
	question := strings.TrimPrefix(f.checkpoint.Message, notUnderstood)
	fields := f.fields()
	for _, field := range fields {
		anyWords := field.Type == "string" && len(field.Enum) == 0
		if _, known := f.props.CurrentValues[field.Name]; !known && (anyWords || len(fields) > 1) {
			hint := `Write the answer as "` + field.Name + `: …". `
			return notUnderstood + hint + strings.TrimPrefix(question, hint)
		}
	}
	return notUnderstood + question
}

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
		return f.repeated()
	}
	return "Thank you. I still need: " + strings.Join(wrong, "; ") + "."
}

func (f form) label(name string) string {
	for _, v := range f.values.Fields() {
		if v.Name != name {
			continue
		}
		if about := cmp.Or(v.Title, v.Description); about != "" {
			name += " (" + about + ")"
		}
		if len(v.Enum) > 0 {
			name += ", one of " + list(v.Enum)
		}
		break
	}
	return name
}

// askWhole asks again with the whole input of a question that omitted a part of it: in the
// chat alone, the person has not seen all of what they approved.
func (f form) askWhole(base job.Reply) lifecycle.Resolution {
	next, question := f.askedBack(intent.Reading{}), f.checkpoint.Question()
	whole := *f.props.Asked
	whole.Omitted, whole.Counted, whole.Segments = 0, true, []job.Segment{
		{From: job.FromRingback, Text: "That was not all of it. A yes runs "},
		{From: job.FromValue, Text: question.Runs},
		{From: job.FromRingback, Text: " with exactly this:\n"},
		{From: job.FromValue, Text: question.Exact},
		{From: job.FromRingback, Text: "\nAllow it?"},
	}
	next.props.Asked, next.props.OriginalQuestion = &whole, job.Sentence(whole.Segments) // asked back later, it is whole, too
	return next.askAgain(base, nil, job.Sentence(whole.Segments))
}

func (f form) askAgain(base job.Reply, known map[string]any, message string) lifecycle.Resolution {
	c := f.checkpoint
	next := f
	next.checkpoint.Message = message
	if known != nil {
		next.props.CurrentValues = known
	}
	composed := compose(next, Request{
		RequestID: c.RequestID, RunID: f.props.RunID, UserID: c.UserID, SessionID: c.SessionID, Type: c.Type, Message: message,
	})
	return lifecycle.Resolution{To: job.Superseded, Reply: base, Again: &composed}
}

// maxExchange is the number of utterances of an exchange that are kept: the latest.
const maxExchange = 40

// withExchange adds the conversation since the question was first asked, said, to a resolution: the
// words before a yes, a no or a value belong to it.
func withExchange(a lifecycle.Resolution, said []job.Utterance) lifecycle.Resolution {
	if a.Again != nil {
		said = append(slices.Clone(said), job.Utterance{Sender: job.FromAssistant, Content: a.Again.Message})
	}
	a.Exchange = said[max(0, len(said)-maxExchange):]
	if a.To == job.Answered && len(said) > 1 {
		a.Reply.Exchange = a.Exchange
	}
	return a
}
