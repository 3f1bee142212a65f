package lifecycle

import (
	"time"

	"ringback/internal/job"
)

// checkpointChat is the chat of a checkpoint that something outside Ringback raised,
// or of its job.
func (st *State) checkpointChat(c *Checkpoint) chat {
	if c.JobID != "" && st.Job != nil {
		return st.Job.chat()
	}
	return chat{Recipient{UserID: c.UserID, SessionID: c.SessionID, EventPrefix: c.EventPrefix, Retention: c.Retention}, st.Session, nil}
}

// opening says how a checkpoint is opened.
type opening struct {
	chat job.MessageBody
	// unasked is whether its answer is there already, so that nobody outside is told;
	// again, whether it asks again what was asked before.
	unasked, again bool
}

// openCheckpoint puts a checkpoint into the chat.
func (st *State) openCheckpoint(c *Checkpoint, o opening) {
	to := st.checkpointChat(c)
	o.chat.CheckpointID, o.chat.RequestID = c.ID, c.JobID
	c.Status, c.CreatedAt = job.Open, st.Now
	c.MessageID = st.put(to, o.chat, EndedByPerson, "HITL_CHECKPOINT", "awaiting_human")
	st.do(StartAsking{c})
	if c.JobID != "" {
		st.auditCheckpoint(st.Job, c, job.AuditEntry{Event: "asked"})
		if !o.unasked {
			// A channel of many is told of a question once: asking back is between two.
			st.notifyAsked(st.Job, c, o.again)
		}
	}
	st.do(Count{c.Type, "opened", 1})
	st.emit(to.Recipient, job.EventCheckpoint, c.View())
}

// closeCheckpoint closes a checkpoint for good and tells of it.
func (st *State) closeCheckpoint(c *Checkpoint, status job.CheckpointStatus) error {
	if err := st.withdrawInterpreter(c); err != nil {
		return err
	}
	st.do(StopAsking{c}, StopClock{LapseClock, string(c.ID)})
	if c.JobID == "" {
		st.do(SetClock{ForgetClock, string(c.ID), st.Now.Add(c.Retention)})
	}
	c.Status, c.AnsweredAt = status, st.Now
	to := st.checkpointChat(c)
	st.do(TouchMessage{Session: to.session, Retention: to.Retention, ID: c.MessageID, Time: st.Now}, Count{c.Type, string(status), 1})
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

// withdrawInterpreter ends the job that interprets the reply to a checkpoint: what
// it would make of it counts no more.
func (st *State) withdrawInterpreter(c *Checkpoint) error {
	r := st.Interpreter
	if r == nil || c.Interpreter != r.ID || r.State.Terminal() {
		return nil
	}
	r.Error, r.Code = "The person has replied again", job.CodeCancelled
	return st.finish(r, job.Cancelled, nil)
}

// stopHolding notes that the call which asked no longer waits: the reply starts
// another turn.
func (st *State) stopHolding(j *Job) error {
	if c := st.waitsAt(j); c != nil {
		c.Held = false
	}
	if j.Phase != job.Held {
		return nil
	}
	st.do(StopClock{HoldClock, string(j.ID)})
	return st.movePhase(j, job.NoPhase)
}

// waitsAt is the checkpoint that a job waits at; nil for none.
func (st *State) waitsAt(j *Job) *Checkpoint {
	for _, c := range append([]*Checkpoint{st.Checkpoint}, st.Checkpoints...) {
		if c != nil && j.Checkpoint != "" && c.ID == j.Checkpoint {
			return c
		}
	}
	return nil
}

// keepAnswer lets a job wait at its checkpoint no longer, and keeps the answer for
// its next turns.
func (st *State) keepAnswer(j *Job, c *Checkpoint, decision job.Decision) {
	j.Checkpoint = ""
	j.Answers = append(j.Answers, c.View())
	if c.Type == job.Review {
		j.Reviewed = decision
		if decision == job.Steer {
			j.Steers++
		}
	}
}

// restartHumanClock gives a person the whole time again.
func (st *State) restartHumanClock(c *Checkpoint) {
	if c.JobID == "" {
		st.do(SetClock{LapseClock, string(c.ID), st.Now.Add(c.Timeout)})
		return
	}
	st.setDeadline(st.Job, HumanClock, c.Timeout)
}

// approvalGrace lets the clock of an approval fire when it has expired for sure.
const approvalGrace = time.Millisecond
