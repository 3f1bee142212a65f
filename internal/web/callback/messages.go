package callback

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/claude"
)

// withMessages contains an answer's additional fields if people have written messages during the turn.
type withMessages struct {
	// Messages are the messages that people have written during the turn; they are in one answer
	// only.
	Messages []job.Utterance `json:"messages,omitempty"`
	// MessagesID shows, in the next request to the model, that Claude has received them.
	MessagesID string `json:"messagesId,omitempty"`
}

// answer calls an endpoint's handler, and adds new messages from people.
func (h *Handler) answer(in *call, ep endpoint) (json.RawMessage, error) {
	answer, err := ep.handle(h, in)
	if err != nil || !ep.withMessages || in.signature == "" {
		return answer, err
	}
	return h.addMessages(in, answer), nil
}

// addMessages adds new messages from people to an answer. If that fails, they are delivered later:
// the answer itself is stored already.
func (h *Handler) addMessages(in *call, answer json.RawMessage) json.RawMessage {
	if in.quiet {
		return answer
	}
	total, waiting, err := h.store.Calls.Step(in.ctx, in.id, 0)
	if err != nil || !waiting {
		return answer
	}
	k, err := h.kindOf(in)
	if err != nil {
		return answer
	}
	step := lifecycle.Step{BeforeToolCall: total + 2, Subagents: claude.Delegates(k.Policy)} // after the call that calls back
	offered, err := h.jobs.OfferWords(in.ctx, in.id, step)
	if err != nil || offered.Words == nil {
		return answer
	}
	h.acksMessages(in, offered)
	return withFields(answer, withMessages{offered.Words, offered.Token})
}

func withFields(objects ...any) json.RawMessage {
	fields := map[string]json.RawMessage{}
	for _, o := range objects {
		maps.Insert(fields, job.Members(job.MustJSON(o)))
	}
	return job.MustJSON(fields)
}

// acksMessages records that the answer delivers messages to the turn, once it has left, unless the next request
// to the model shows them.
func (h *Handler) acksMessages(in *call, offered lifecycle.Offered) {
	if offered.Words != nil && !offered.Proxied {
		in.whenSent(func(ctx context.Context) error {
			return h.jobs.HearWords(ctx, in.id, offered.Turn, []string{offered.Token})
		})
	}
}

// stepEnded handles the CLI's report that the tools of a step have ended, and delivers new
// messages to Claude.
func (h *Handler) stepEnded(in *call, body toolCallBody) (hookAnswer, error) {
	if body.AgentID != "" {
		return hookAnswer{}, nil // a subagent does not receive the messages
	}
	answers := string(job.MustJSON(body.ToolCalls))
	words, offered, err := h.offer(
		in, len(body.ToolCalls), lifecycle.Step{Answers: answers, Answered: answeredQuestions(body.ToolCalls)},
	)
	changed := changedPlan(body.ToolCalls)
	if err != nil || words == "" && changed == "" {
		return hookAnswer{}, err
	}
	return h.addContext(in, claude.PostToolBatch, changed+words, offered), nil
}

// answeredQuestions returns the ids of the calls of the CLI's own question tool that have given Claude
// the person's answers.
func answeredQuestions(calls []map[string]any) []string {
	var ids []string
	for _, call := range calls {
		id, _ := call["tool_use_id"].(string)
		answer, _ := call["tool_response"].(string)
		if id != "" && call["tool_name"] == claude.AskUserQuestion && strings.HasPrefix(answer, claude.QuestionsAnswered) {
			ids = append(ids, id)
		}
	}
	return ids
}

// offer returns the text that the CLI's hook is to give Claude; "" for none. step describes the
// results of that many calls.
func (h *Handler) offer(in *call, calls int, step lifecycle.Step) (string, lifecycle.Offered, error) {
	total, waiting, err := h.store.Calls.Step(in.ctx, in.id, calls)
	if err != nil || !waiting {
		return "", lifecycle.Offered{}, err
	}
	step.Hook, step.BeforeToolCall = true, total+1
	offered, err := h.jobs.OfferWords(in.ctx, in.id, step)
	if err != nil || offered.Words == nil {
		return "", offered, err
	}
	words, err := claude.Words(offered.Token, offered.Words)
	return words, offered, err
}

// addContext returns the answer to a hook that gives Claude a text.
func (h *Handler) addContext(in *call, event, text string, offered lifecycle.Offered) hookAnswer {
	h.acksMessages(in, offered)
	return hookAnswer{&hookOutput{Event: event, Context: strings.TrimSpace(text)}}
}

// mostTasks limits the background tasks in the message to Claude.
const mostTasks = 10

// stops answers the CLI when Claude ends its turn. Without a result, Claude gets a message about
// what is missing, in the same process. A turn that waits for a person, or has reported that it
// cannot do the job, gets none.
func (h *Handler) stops(in *call, body toolCallBody) (hookAnswer, error) {
	k, err := h.kindOf(in)
	if err != nil {
		return hookAnswer{}, err
	}
	words, offered, err := h.offer(in, 0, lifecycle.Step{})
	if err != nil {
		return hookAnswer{}, err
	}
	blocked, err := h.jobs.BlockStop(in.ctx, in.id, k.Policy.Blocks())
	if err != nil || !blocked && words == "" {
		return hookAnswer{}, err
	}
	missing := ""
	if blocked {
		_, details, err := k.Accept(map[string]any{}, nil)
		if err != nil {
			return hookAnswer{}, err
		}
		if missing, err = claude.Missing(k, details, openTasks(body.BackgroundTasks)); err != nil {
			return hookAnswer{}, err
		}
	}
	return h.addContext(in, claude.Stop, words+missing, offered), nil
}

// openTasks describes the background tasks that still run.
func openTasks(tasks []map[string]any) (open []string) {
	for _, task := range tasks[:min(mostTasks, len(tasks))] {
		id, _ := task["id"].(string)
		command, _ := task["command"].(string)
		description, _ := task["description"].(string)
		open = append(open, id+": "+cmp.Or(command, description))
	}
	return open
}
