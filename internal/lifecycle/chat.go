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
// receives it. Error: TooMany if too many messages wait for that job, or if another job had to follow
// it and may not be opened.
func (s *Service) AppendMessage(ctx context.Context, userID, sessionID string, m job.MessageBody, forClaude bool) (to Delivery, message int64, of job.ID, err error) {
	if err := s.store.RememberSession(ctx, sessionID, userID); err != nil {
		return "", 0, "", err
	}
	err = s.runDurably(ctx, Query{UserID: userID, SessionID: sessionID, Home: userID, Latest: true}, func(st *State) (err error) {
		to, message, of, err = st.appendMessage(s.opts, Recipient{UserID: userID, SessionID: sessionID}, m, forClaude)
		return err
	})
	return to, message, of, err
}

func (st *State) appendMessage(opts Options, to Recipient, m job.MessageBody, forClaude bool) (Delivery, int64, job.ID, error) {
	to.EventPrefix, to.Retention = outsidePrefix, opts.Retention
	in := chat{to, st.Session, nil}
	j := st.Latest
	if j != nil {
		in = j.chat()
	}
	if !forClaude || j == nil {
		return Stored, st.addMessage(in, m, EndedByTurn), "", nil
	}
	message, err := st.keepForClaude(j, in, m)
	if err != nil {
		return "", 0, "", err
	}
	if j.State.Terminal() {
		st.addTask(j.ID, TaskContinue, string(j.ID))
		st.Followed = j
		return Continues, message, j.ID, nil
	}
	if j.Checkpoint != "" { // the person was asked and still writes: restart the human clock
		st.setDeadline(j, HumanClock, opts.HumanTimeout)
	}
	return ToJob, message, j.ID, nil
}

// maxUnread and maxUnreadBytes limit the messages that wait for the Claude of a job that has not ended,
// by their number and by the length of their texts. The next prompt contains all of them.
const (
	maxUnread      = 100
	maxUnreadBytes = 256 << 10
)

// unread returns the number of messages that no turn of a job has received yet.
func (j *Job) unread() int { return j.PendingMessages - j.DeliveredMessages }

// unreadBytes returns the length of the texts of these messages.
func (j *Job) unreadBytes() int {
	n := 0
	for _, w := range j.Words {
		delivered := j.DeliveredMessages > 0 && w.Turn == j.Turn
		if w.Status == job.Waiting && !w.Queued && !delivered {
			n += w.Bytes
		}
	}
	return n
}

// keepForClaude adds a message to a chat for a job's Claude, to be read by the running turn or the
// next one. If the job has ended, the message is accepted however many wait: it starts the job that
// reads all of them. Error: TooMany.
func (st *State) keepForClaude(j *Job, in chat, m job.MessageBody) (message int64, err error) {
	if err := j.checkUnread(len(m.Content)); err != nil && !j.State.Terminal() {
		return 0, err
	}
	message = st.addWord(j, in, m, false)
	j.PendingMessages++
	st.do(AddPending{j.ID, message, j.Retention})
	return message, nil
}

// checkUnread rejects a message of so many bytes if too many wait already.
func (j *Job) checkUnread(bytes int) error {
	const later = "Claude reads them after its next tool call, or when its next turn begins. Send this one again then."
	if n := j.unread(); n >= maxUnread {
		return job.Errorf(job.TooMany, "%d messages wait for this job's Claude, and no more than %d may", n, maxUnread).WithHint(later)
	}
	if n := j.unreadBytes(); n > 0 && n+bytes > maxUnreadBytes {
		return job.Errorf(job.TooMany, "The messages that wait for this job's Claude have %d bytes, this one has %d, and together they may have %d", n, bytes, maxUnreadBytes).
			WithHint(later)
	}
	return nil
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
