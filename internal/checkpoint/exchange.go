package checkpoint

import (
	"slices"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// maxExchange is how many utterances of an exchange are kept: the latest.
const maxExchange = 40

// withExchange adds to an answer what was said since its question was first put, in
// said: what comes before a yes, a no or a value belongs to it.
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

// exchangeWith is the exchange with what the person says now.
func (f form) exchangeWith(words string) []job.Utterance {
	return append(slices.Clone(f.checkpoint.Exchange), job.Utterance{Sender: job.FromUser, Content: words})
}
