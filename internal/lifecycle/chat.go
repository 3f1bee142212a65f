package lifecycle

import (
	"context"
	"strconv"

	"ringback/internal/job"
)

// Delivery is the destination of a message that is not a reply.
type Delivery string

// The destinations.
const (
	ToJob     Delivery = "job"       // the job's current or next turn gets it
	Continues Delivery = "continues" // the latest job has ended: another follows it
	Stored    Delivery = "stored"    // only readers of the session see it
)

// AppendMessage adds a message to a session. If forClaude is true, the session's latest job
// receives it. Error: TooMany if another job had to follow that one, and may not be opened.
func (s *Service) AppendMessage(ctx context.Context, userID, sessionID string, m job.MessageBody, forClaude bool) (to Delivery, message int64, of job.ID, err error) {
	if err := s.store.RememberSession(ctx, sessionID, userID); err != nil {
		return "", 0, "", err
	}
	err = s.runDurably(ctx, Query{UserID: userID, SessionID: sessionID, Home: userID, Latest: true}, func(st *State) error {
		to, message, of = st.appendMessage(s.opts, Recipient{UserID: userID, SessionID: sessionID}, m, forClaude)
		return nil
	})
	return to, message, of, err
}

func (st *State) appendMessage(opts Options, to Recipient, m job.MessageBody, forClaude bool) (Delivery, int64, job.ID) {
	to.EventPrefix, to.Retention = outsidePrefix, opts.Retention
	in := chat{to, st.Session, nil}
	j := st.Latest
	if j != nil {
		in = j.chat()
	}
	if !forClaude || j == nil {
		return Stored, st.addMessage(in, m, EndedByTurn), ""
	}
	message := st.keepForClaude(j, in, m)
	if j.State.Terminal() {
		st.addTask(j.ID, TaskContinue, string(j.ID))
		st.Followed = j
		return Continues, message, j.ID
	}
	if j.Checkpoint != "" { // the person was asked and still writes: restart the human clock
		st.setDeadline(j, HumanClock, opts.HumanTimeout)
	}
	return ToJob, message, j.ID
}

// keepForClaude adds a message to a chat for a job's Claude, to be read by the running turn or the
// next one.
func (st *State) keepForClaude(j *Job, in chat, m job.MessageBody) (message int64) {
	message = st.addWord(j, in, m, false)
	j.PendingMessages++
	st.do(AddPending{j.ID, message, j.Retention})
	return message
}

// AssistantMessage is one of Claude's messages.
type AssistantMessage struct {
	// End is the position in the turn's output at which it ends.
	End  int64
	Body job.MessageBody
}

// AppendAssistantMessages adds a turn's messages from Claude to the session of its job. It is
// idempotent.
func (s *Service) AppendAssistantMessages(ctx context.Context, id job.ID, turn int, said []AssistantMessage) error {
	return s.run(ctx, Query{Job: id}, func(st *State) error {
		st.appendAssistantMessages(turn, said)
		return nil
	})
}

func (st *State) appendAssistantMessages(turn int, said []AssistantMessage) {
	j := st.Job
	if j == nil || turn < j.Output.Turn {
		return
	}
	var known int64
	if turn == j.Output.Turn {
		known = j.Output.Offset
	}
	until := known
	for _, one := range said { // several messages may end at the same position
		if one.End > known {
			until = one.End
			st.addTurnOutput(j.chat(), j.chat().about(one.Body))
		}
	}
	j.Output = OutputPosition{turn, until}
}

func itoa(n int) string { return strconv.Itoa(n) }
