package callback

import (
	"encoding/json"
	"strings"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// told is what an answer holds beside its own fields if people have written meanwhile.
type told struct {
	// Messages are what people have written while the turn runs; they are in one answer only.
	Messages []job.Utterance `json:"messages,omitempty"`
	// MessagesID shows in the next request to the model that Claude has heard them.
	MessagesID string `json:"messagesId,omitempty"`
}

// answer calls an endpoint's handler, and adds what people have written meanwhile.
func (h *Handler) answer(in *call, ep endpoint) (any, error) {
	answer, err := ep.handle(h, in)
	if err != nil || !ep.tells || in.signature == "" {
		return answer, err
	}
	return h.tell(in, answer), nil
}

// tell adds to an answer what people have written meanwhile. What cannot be added now is told
// later: the answer itself is stored already.
func (h *Handler) tell(in *call, answer any) any {
	if in.waiting != nil && !*in.waiting {
		return answer
	}
	total, waiting, err := h.store.Step(in.ctx, in.id, 0)
	if err != nil || !waiting {
		return answer
	}
	offered, err := h.jobs.OfferWords(in.ctx, in.id, lifecycle.Step{BeforeToolCall: total + 2}) // behind the call that calls back
	if err != nil || offered.Words == nil {
		return answer
	}
	text, err := withFields(answer, told{offered.Words, offered.Token})
	if err != nil {
		return answer
	}
	return h.hears(in, offered, text, answer)
}

// withFields is the JSON of an object with the fields of others.
func withFields(objects ...any) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &fields); err != nil {
			return nil, err
		}
	}
	return json.Marshal(fields)
}

// hears is an answer that tells the turn something. Unless the next request to the model shows it,
// it counts as heard once it is written.
func (h *Handler) hears(in *call, offered lifecycle.Offered, text json.RawMessage, before any) any {
	after := func() {}
	if r, ok := before.(response); ok {
		after = r.afterWrite
	}
	return response{text, func() {
		after()
		if !offered.Proxied {
			_ = h.jobs.HearWords(in.ctx, in.id, offered.Turn, []string{offered.Token}) // else they are told once more
		}
	}}
}

// stepEnded takes the CLI's word that the tools of a step have ended, and has Claude hear what
// people have written meanwhile.
func (h *Handler) stepEnded(in *call, body toolCallBody) (any, error) {
	if body.AgentID != "" {
		return hookAnswer{}, nil // a subagent's: it is not the one who is written to
	}
	answers, err := json.Marshal(body.ToolCalls)
	if err != nil {
		return nil, err
	}
	words, offered, err := h.offer(in, len(body.ToolCalls), string(answers))
	changed := changedPlan(body.ToolCalls)
	if err != nil || words == "" && changed == "" {
		return hookAnswer{}, err
	}
	return h.addContext(in, claude.PostToolBatch, changed+words, offered)
}

// offer takes what the CLI's hook is to tell Claude, in words; "" for nothing. answers is what the
// calls of the step have answered.
func (h *Handler) offer(in *call, calls int, answers string) (string, lifecycle.Offered, error) {
	total, waiting, err := h.store.Step(in.ctx, in.id, calls)
	if err != nil || !waiting {
		return "", lifecycle.Offered{}, err
	}
	offered, err := h.jobs.OfferWords(in.ctx, in.id, lifecycle.Step{Hook: true, Answers: answers, BeforeToolCall: total + 1})
	if err != nil || offered.Words == nil {
		return "", offered, err
	}
	words, err := claude.Words(offered.Token, offered.Words)
	return words, offered, err
}

// addContext is the answer to a hook that tells Claude something.
func (h *Handler) addContext(in *call, event, text string, offered lifecycle.Offered) (any, error) {
	answer := hookAnswer{&hookOutput{Event: event, Context: strings.TrimSpace(text)}}
	if offered.Words == nil {
		return answer, nil
	}
	whole, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return h.hears(in, offered, whole, nil), nil
}
