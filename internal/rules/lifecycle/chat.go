package lifecycle

import (
	"context"
	"slices"
	"strconv"

	"ringback/internal/job"
)

// Addressee limits which job may receive a message. The zero value does not.
type Addressee struct {
	// Job is the only job that may; empty for whichever is the session's latest.
	Job job.ID
	// NoStart is true if the message may not start a job.
	NoStart bool
	// Late is true for a reply to a question that is closed by now. If the job has ended, no other
	// follows: what was an answer is no order.
	Late bool
}

// AppendMessage adds a message to a session and returns its id. Unless to is nil, it is for Claude: the session's latest
// job receives it, or another that follows it if it has ended. Errors: Conflict if that is not the addressee; TooMany if
// too many messages wait for that job, or if another job may not be opened.
func (s *Service) AppendMessage(ctx context.Context, userID, sessionID string, m job.MessageBody, to *Addressee) (int64, error) {
	q := Query{UserID: userID, SessionID: sessionID, Latest: true}
	return resultOf(ctx, s.runDurably, q, func(st *State) (int64, error) {
		if to == nil {
			return st.appendMessage(s.opts, q, m, false)
		}
		j := st.Latest.Get()
		if err := to.check(j); err != nil {
			return 0, err
		}
		nothing := to.Late && j != nil && j.State.Terminal()
		message, err := st.appendMessage(s.opts, q, m, !nothing)
		if err == nil && (to.NoStart || to.Late) {
			j.mayNotStart(message)
		}
		if nothing {
			st.addNotice(j.chat(), "The question that this message answers is closed, and no job waits here: nothing was started.")
		}
		return message, err
	})
}

// mayNotStart records that a waiting message starts no job if this one ends before it is read.
func (j *Job) mayNotStart(message int64) {
	if j != nil {
		j.Words = j.Words.with(func(w *Word) { w.NoStart = w.NoStart || w.MessageID == message })
	}
}

// starts reports whether a job must follow one that ends, because of an unread message.
func (j *Job) starts() bool {
	unread := j.PendingMessages[min(j.DeliveredMessages, len(j.PendingMessages)):]
	return slices.ContainsFunc(unread, func(message int64) bool {
		return !slices.ContainsFunc(j.Words, func(w Word) bool { return w.MessageID == message && w.NoStart })
	})
}

// check returns Conflict if the latest job of a session may not receive a message; latest is nil if
// there is none.
func (to Addressee) check(latest *Job) error {
	switch {
	case to.Job != "" && latest == nil:
		return job.Errorf(job.Conflict, "This chat has no job %s: nothing was sent", to.Job)
	case to.Job != "" && latest.ID != to.Job:
		return job.Errorf(job.Conflict, "A message goes to the latest job of its chat, which is %s, not %s: nothing was sent", latest.ID, to.Job)
	case to.NoStart && !to.Late && latest != nil && latest.State.Terminal():
		return job.Errorf(job.Conflict, "The job %s is %s, so the message would start another one: nothing was sent", latest.ID, latest.State)
	}
	return nil
}

func (st *State) appendMessage(opts Options, q Query, m job.MessageBody, forClaude bool) (int64, error) {
	j := st.Latest.Get()
	if j == nil {
		to := Recipient{UserID: q.UserID, SessionID: q.SessionID, EventPrefix: outsidePrefix, Retention: opts.Retention}
		return st.addMessage(chat{to, st.Session.Get(), nil}, m, EndedByTurn), nil
	}
	if !forClaude {
		return st.addMessage(j.chat(), m, EndedByTurn), nil
	}
	message, err := st.keepForClaude(j, m)
	switch {
	case err != nil:
	case j.State.Terminal():
		st.addTask(j.ID, TaskContinue, string(j.ID), nil)
		st.Followed = j
	case j.Checkpoint != "": // the person was asked and still writes: restart the human clock
		st.setDeadline(j, HumanClock, opts.HumanTimeout)
	}
	return message, err
}

// maxUnread and maxUnreadBytes limit the messages that wait for the Claude of a job that has not ended,
// by their number and by the length of their texts. The next prompt contains all of them.
const (
	maxUnread      = 100
	maxUnreadBytes = 256 << 10
)

// unread returns the number of messages that no turn of a job has received yet.
func (j *Job) unread() int { return len(j.PendingMessages) - j.DeliveredMessages }

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

// keepForClaude adds a message to the chat for a job's Claude, to be read by the running turn or the
// next one. If the job has ended, the message is accepted however many wait: it starts the job that
// reads all of them. Error: TooMany.
func (st *State) keepForClaude(j *Job, m job.MessageBody) (message int64, err error) {
	if err := j.checkUnread(len(m.Content)); err != nil && !j.State.Terminal() {
		return 0, err
	}
	message = st.addWord(j, m, false)
	j.PendingMessages = append(slices.Clone(j.PendingMessages), message)
	return message, nil
}

// checkUnread rejects a message of so many bytes if too many wait already.
func (j *Job) checkUnread(bytes int) error {
	const later = "Claude reads them after its next tool call, or when its next turn begins. Send this one again then."
	if n := j.unread(); n >= maxUnread {
		return job.Errorf(job.TooMany, "Claude has not read %d messages of this job yet, and the limit is %d", n, maxUnread).WithHint(later)
	}
	if n := j.unreadBytes(); n > 0 && n+bytes > maxUnreadBytes {
		return job.Errorf(
			job.TooMany,
			"The messages that wait for this job's Claude have %d bytes, this one has %d, and together they may have %d", n,
			bytes, maxUnreadBytes,
		).
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
		j := st.Job
		if j == nil || turn < j.Output.Turn {
			return nil
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
		return nil
	})
}

func itoa(n int) string { return strconv.Itoa(n) }
