package lifecycle

import (
	"time"

	"ringback/internal/job"
)

// checkpointChat returns the chat of the checkpoint's job, or of the checkpoint if a system outside
// Ringback raised it.
func (st *State) checkpointChat(c *Checkpoint) chat {
	if c.JobID != "" && st.Job != nil {
		return st.Job.chat()
	}
	return chat{
		Recipient{UserID: c.UserID, SessionID: c.SessionID, EventPrefix: c.EventPrefix, Retention: c.Retention},
		st.Session.Get(),
		nil,
	}
}

// opening describes how a checkpoint is opened.
type opening struct {
	chat job.MessageBody
	// unasked is true if its answer is already known, so that no notification is sent. again is
	// true if it repeats an earlier question.
	unasked, again bool
}

// openCheckpoint adds a checkpoint to the chat.
func (st *State) openCheckpoint(c *Checkpoint, o opening) {
	to := st.checkpointChat(c)
	o.chat.CheckpointID, o.chat.RequestID = c.ID, c.JobID
	c.Status, c.CreatedAt = job.Open, st.Now
	c.MessageID = st.put(to, o.chat, EndedByPerson, "HITL_CHECKPOINT", "awaiting_human")
	if c.JobID != "" {
		st.auditCheckpoint(st.Job, c, job.AuditEntry{Event: "asked"})
		if !o.unasked {
			// A shared channel gets a question once; follow-up questions concern only the two
			// sides.
			st.notifyAsked(st.Job, c, o.again)
		}
	}
	st.do(Count{c.Type, "opened", 1})
	st.emit(to.Recipient, job.EventCheckpoint, c.View())
}

// closeCheckpoint closes a checkpoint for good and emits its event.
func (st *State) closeCheckpoint(c *Checkpoint, status job.CheckpointStatus) error {
	if err := st.withdrawInterpreter(c); err != nil {
		return err
	}
	st.stopClock(LapseClock, string(c.ID))
	if c.JobID == "" {
		st.do(SetClock{ForgetClock, string(c.ID), st.Now.Add(c.Retention)})
	}
	c.Status, c.AnsweredAt = status, st.Now
	to := st.checkpointChat(c)
	st.do(
		TouchMessage{Session: to.session, ID: c.MessageID, Time: st.Now},
		Count{c.Type, string(status), 1},
	)
	if status == job.Answered {
		st.do(Count{c.Type, "ms", st.Now.Sub(c.CreatedAt).Milliseconds()})
		if c.Type.Binding() {
			st.countDuration(Approval, st.Now.Sub(c.CreatedAt))
		}
		if c.Held {
			st.do(Count{c.Type, "held", 1})
		}
	}
	st.emit(to.Recipient, job.EventResolved, c.View())
	return nil
}

// withdrawInterpreter ends the job that interprets the reply to a checkpoint: its result no longer
// counts.
func (st *State) withdrawInterpreter(c *Checkpoint) error {
	r := st.Interpreter
	if r == nil || c.Interpreter != r.ID || r.State.Terminal() {
		return nil
	}
	r.Error, r.Code = "The person has replied again", job.CodeCancelled
	return st.finish(r, job.Cancelled, nil)
}

// stopHolding records that the asking call no longer waits, so that the reply will start another
// turn.
func (st *State) stopHolding(j *Job) error {
	if c := st.waitsAt(j); c != nil {
		c.Held = false
	}
	if j.Phase != job.Held {
		return nil
	}
	st.stopClock(HoldClock, string(j.ID))
	return st.movePhase(j, job.NoPhase)
}

// waitsAt returns the checkpoint that a job waits at, or nil.
func (st *State) waitsAt(j *Job) *Checkpoint {
	if j.Checkpoint == "" {
		return nil
	}
	for _, c := range st.Checkpoints {
		if c.ID == j.Checkpoint {
			return c
		}
	}
	c := st.Checkpoint.Get()
	if j != st.Job || c != nil && c.ID != j.Checkpoint {
		panic(notLoaded("the checkpoint that " + string(j.ID) + " waits at"))
	}
	return c
}

// keepAnswer ends a job's wait at its checkpoint, and stores the answer for the prompts of its next turns.
func (st *State) keepAnswer(j *Job, c *Checkpoint, decision job.Decision) {
	j.Checkpoint = ""
	st.do(AppendAnswer{j.ID, c.View()})
	if c.Type == job.Review {
		j.Reviewed = decision
		if decision == job.Steer {
			j.Steers++
			j.KnownRuns = nil // a call in the next round asks for another run
		}
	}
}

// restartHumanClock gives a person the full time again.
func (st *State) restartHumanClock(c *Checkpoint) {
	if c.JobID == "" {
		st.do(SetClock{LapseClock, string(c.ID), st.Now.Add(c.Timeout)})
		return
	}
	st.setDeadline(st.Job, HumanClock, c.Timeout)
}

// approvalGrace delays the clock of an approval, so that the approval has surely expired when it
// fires.
const approvalGrace = time.Millisecond
