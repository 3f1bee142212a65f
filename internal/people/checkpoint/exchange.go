package checkpoint

import (
	"slices"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

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
