package lifecycle

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"ringback/internal/job"
)

// chat is the destination of messages: a session, and the calls of a job that it shows.
type chat struct {
	Recipient
	session *Session
	calls   map[string]Call // of the job; nil without one
}

// about returns the message with the chat's job set.
func (c chat) about(body job.MessageBody) job.MessageBody {
	body.RequestID = c.JobID
	return body
}

func (j *Job) chat() chat {
	return chat{j.recipient(), j.Session.Get(), j.Calls.Get()}
}

// MessageData is the event data of a message.
type MessageData struct {
	// Action is HITL_CHECKPOINT for a message that asks a person, otherwise NEW_MESSAGE.
	Action string `json:"action" jsonschema:"enum=NEW_MESSAGE,enum=HITL_CHECKPOINT"`
	// Status is awaiting_human if the message waits for its person's reply.
	Status string `json:"status" jsonschema:"enum=processing,enum=awaiting_human"`
	// SessionID is the chat.
	SessionID string `json:"sessionId"`
	// Message is the new message.
	Message job.Message `json:"message"`
}

// addMessage adds a message to a chat and emits its event. Tool calls in the message are ended by
// owner. It returns the message's id.
func (st *State) addMessage(to chat, body job.MessageBody, owner CallOwner) int64 {
	return st.put(to, body, owner, "NEW_MESSAGE", "processing")
}

// addTurnOutput adds a turn's output, except for calls that the chat already shows and results of
// calls that already have one: output is read late, and a person may have been asked or have
// decided before.
func (st *State) addTurnOutput(to chat, body job.MessageBody) {
	fresh := slices.DeleteFunc(slices.Clone(body.Parts), to.knows)
	if len(body.Parts) > 0 && len(fresh) == 0 {
		return
	}
	body.Parts = fresh
	for _, p := range fresh {
		if p.Type == job.ToolResultPart {
			st.concludeReported(st.Job, p)
		}
	}
	if body.MessageType == job.ToolMessage && !slices.ContainsFunc(fresh, job.Part.OfTool) {
		body.MessageType = job.TextMessage
	}
	st.addMessage(to, body, EndedByTurn)
}

func (st *State) put(to chat, body job.MessageBody, owner CallOwner, action, status string) int64 {
	body.UserID, body.SessionID = to.UserID, to.SessionID
	for _, p := range body.Parts {
		if p.Type == job.ToolResultPart {
			st.closeCall(to, p.ToolCallID, p.State)
		}
	}
	to.session.Latest++
	id := to.session.Latest
	for _, p := range body.Parts {
		if p.Type == job.ToolCallPart {
			st.showCall(to, p.ToolCallID, p.ToolName, owner, id)
		}
	}
	m := job.Message{ID: id, CreatedAt: st.Now, UpdatedAt: st.Now, MessageBody: body}
	st.do(PutMessage{to.session, m})
	st.emit(to.Recipient, job.EventMessage, MessageData{Action: action, Status: status, SessionID: to.SessionID, Message: m})
	return id
}

// knows reports whether the chat already shows a part of a turn's output: a call, or its result. It
// is also true for the result of a call that was never shown, which is not shown either.
func (c chat) knows(p job.Part) bool {
	known, ok := c.calls[p.ToolCallID]
	switch p.Type {
	case job.ToolCallPart:
		return ok && (known.Owner == CallEnded || len(known.Messages) > 0)
	case job.ToolResultPart:
		return !ok || known.Owner == CallEnded
	case job.TextPart:
	}
	return false
}

// addNotice adds a message that describes what happened to a job.
func (st *State) addNotice(to chat, text string) {
	body := job.Text(job.FromAssistant, text)
	body.MessageType = job.NoticeMessage
	st.addMessage(to, to.about(body), EndedByTurn)
}

func (st *State) setCall(to chat, id string, c Call) {
	to.calls[id] = c
	st.do(SetCall{to.JobID, id, c})
}

// showCall records that a message shows a call, and that no earlier message does any longer. A
// person may be asked about a call that a turn's output has already shown, and asked again about
// one that has ended.
func (st *State) showCall(to chat, id, tool string, owner CallOwner, message int64) {
	if to.calls == nil {
		return
	}
	known, ok := to.calls[id]
	if ok {
		st.moveCall(to, id, message, job.InputAvailable)
	}
	if ok && owner == EndedByTurn {
		owner = known.Owner
	}
	st.setCall(to, id, Call{owner, append(slices.Clone(known.Messages), message), tool})
}

func (st *State) moveCall(to chat, id string, message int64, state job.PartState) {
	st.do(MoveCall{Session: to.session, JobID: to.JobID, Call: id, Message: message, State: state})
}

// handCall changes the owner of a call.
func (st *State) handCall(to chat, id string, owner CallOwner, tool string) {
	if known, ok := to.calls[id]; ok {
		st.setCall(to, id, Call{owner, known.Messages, known.Tool})
		return
	}
	st.setCall(to, id, Call{Owner: owner, Tool: tool})
}

// closeCall records the end and the state of a call. It returns the call's tool; ok is false if the
// call had already ended.
func (st *State) closeCall(to chat, id string, state job.PartState) (tool string, ok bool) {
	known, shown := to.calls[id]
	if !shown || known.Owner == CallEnded {
		return "", false
	}
	st.setCall(to, id, Call{Owner: CallEnded})
	if n := len(known.Messages); n > 0 {
		st.moveCall(to, id, known.Messages[n-1], state)
	}
	for _, message := range known.Messages {
		st.do(TouchMessage{Session: to.session, ID: message, Time: st.Now})
	}
	return known.Tool, true
}

// endCall ends a call in the chat, unless it has already ended.
func (st *State) endCall(to chat, id string, state job.PartState, output json.RawMessage) {
	tool, open := st.closeCall(to, id, state)
	if !open {
		return
	}
	st.addMessage(to, to.about(job.MessageBody{
		Sender: job.FromAssistant, Role: job.FromTool, MessageType: job.ToolMessage,
		Parts: []job.Part{{Type: job.ToolResultPart, ToolCallID: id, ToolName: tool, State: state, Output: output}},
	}), EndedByTurn)
}

// failCall is endCall for a call without a result. why is the reason in one word.
func (st *State) failCall(to chat, id, why string) {
	st.endCall(to, id, job.OutputError, job.MustJSON(why))
}

// EndCalls ends the open tool calls in the chat of a job that has ended. This is a repair:
// normally, the end of the job or of its process does it. It reports whether a call was open. If
// mend is false, it changes nothing.
func (s *Service) EndCalls(ctx context.Context, id job.ID, mend bool) (bool, error) {
	return resultOf(ctx, s.run, Query{Job: id, Running: true}, func(st *State) (bool, error) {
		j := st.Job
		if j == nil || !j.State.Terminal() || j.Owner != "" {
			return false, nil
		}
		open := slices.ContainsFunc(slices.Collect(maps.Values(j.Calls.Get())), Call.EndsWithJob)
		if open && mend {
			st.endCalls(j, map[CallOwner]string{EndedByTurn: "interrupted", EndedByPerson: "unused"})
		}
		return open, nil
	})
}

// endCalls ends the calls of the given owners, each with the owner's reason.
func (st *State) endCalls(j *Job, why map[CallOwner]string) {
	to := j.chat()
	for _, id := range slices.Sorted(maps.Keys(to.calls)) {
		owner := to.calls[id].Owner
		word, ends := why[owner]
		if !ends {
			continue
		}
		if c := st.allowedCall(j, id); c != nil && owner == EndedByTurn {
			st.conclude(j, c, is(job.OutcomeUnknown, "its process was interrupted while it was running"))
		}
		st.failCall(to, id, word)
	}
	st.concludeLost(j)
}
