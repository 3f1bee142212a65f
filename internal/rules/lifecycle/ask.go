package lifecycle

import (
	"context"
	"encoding/json"
	"time"

	"ringback/internal/job"
)

// NewCheckpoint is a question to ask a person.
type NewCheckpoint struct {
	// RequestID is the job that asks; empty for a system outside Ringback.
	RequestID job.ID
	// Holder is set if the job's node asks. ErrSuperseded is returned if the node no longer owns
	// the turn.
	Holder Holder
	// UserID and SessionID are the person and chat that the question is addressed to.
	UserID    string
	SessionID string
	Type      job.CheckpointType
	Message   string
	Props     json.RawMessage
	// Chat is the message for the session; the checkpoint's id is added.
	Chat job.MessageBody
	// Digest identifies the question, so that a repeated call is recognized.
	Digest string
	// Hold is the maximum time that the call waits for the reply.
	Hold time.Duration
	// ApprovalKey identifies the operation, with its input, that an approval would be for; empty
	// for none.
	ApprovalKey string
	// AuditFields describes the operation for the audit log.
	AuditFields job.Operation
	// ToolCallID identifies the tool call in the chat.
	ToolCallID string
	// NotPublished is why the change that was approved before could not be published; empty if none was.
	NotPublished string
	// MaxIterations is the number of times that the change under review may be steered. A queued
	// steer answers the review at once. If it is 0, none does.
	MaxIterations int
}

// record returns the checkpoint's stored record.
func (n NewCheckpoint) record(id job.CheckpointID, to Recipient, timeout time.Duration) *Checkpoint {
	if len(n.Props) == 0 {
		n.Props = json.RawMessage("{}")
	}
	return &Checkpoint{
		ID: id, Type: n.Type, JobID: to.JobID, UserID: to.UserID, SessionID: to.SessionID,
		Head: Head{
			ID: id, Type: n.Type, Message: n.Message, Props: n.Props,
			RequestID: n.RequestID, SessionID: n.SessionID, UserID: n.UserID,
		},
		EventPrefix: to.EventPrefix, Retention: to.Retention, Timeout: timeout,
		ApprovalKey: n.ApprovalKey, AuditFields: n.AuditFields, ToolCallID: n.ToolCallID,
	}
}

// outsidePrefix is the event prefix of checkpoints and messages that belong to no job.
const outsidePrefix = "chat"

// Ask asks a person a question. A job parks at it: its callback clock is paused and the human clock
// starts. For a job, the outcome may also be Repeated, Busy, Refused or Unknown.
func (s *Service) Ask(ctx context.Context, n NewCheckpoint) (outcome Outcome, id job.CheckpointID, message int64, err error) {
	fresh := job.CheckpointID(s.store.NewID(job.CheckpointIDs, n.UserID))
	if n.RequestID == "" {
		err = s.runDurably(ctx, Query{UserID: n.UserID, SessionID: n.SessionID}, func(st *State) error {
			outcome, id, message = st.askFromOutside(s.opts, n, fresh)
			return nil
		})
		return outcome, id, message, err
	}
	err = s.runDurably(ctx, Query{Job: n.RequestID, Question: true}, func(st *State) (err error) {
		outcome, id, message, err = st.ask(s.opts, n, fresh)
		return err
	})
	return outcome, id, message, err
}

func (st *State) askFromOutside(opts Options, n NewCheckpoint, id job.CheckpointID) (Outcome, job.CheckpointID, int64) {
	to := Recipient{UserID: n.UserID, SessionID: n.SessionID, EventPrefix: outsidePrefix, Retention: opts.Retention}
	c := n.record(id, to, opts.HumanTimeout)
	st.Checkpoint.Set(c)
	st.openCheckpoint(c, opening{chat: n.Chat})
	st.restartHumanClock(c)
	return Outcome{Kind: Accepted}, c.ID, c.MessageID
}

func (st *State) ask(opts Options, n NewCheckpoint, id job.CheckpointID) (Outcome, job.CheckpointID, int64, error) {
	j := st.Job
	if j == nil || j.State.Terminal() {
		return st.refusal(), "", 0, nil
	}
	if err := n.Holder.check(j); err != nil {
		return Outcome{}, "", 0, err
	}
	switch { // the client lost the response and retries the call
	case n.Digest != "" && j.Question == n.Digest:
		var message int64
		if c := st.Asked.Get(); c != nil {
			message = c.MessageID
		}
		return Outcome{Kind: Repeated}, j.QuestionID, message, nil
	case j.Checkpoint != "":
		return Outcome{Kind: Busy}, j.Checkpoint, 0, nil
	case j.Submitted && n.Holder == Holder{}:
		return RefusedIn(job.Received), "", 0, nil
	case j.State != job.Running:
		return RefusedIn(j.State), "", 0, nil
	case j.Secret.Get() == "":
		return RefusedIn(job.Expired), "", 0, nil
	}
	st.concludeEarlier(j, n)
	c := n.record(id, j.recipient(), opts.HumanTimeout)
	st.Checkpoints = append(st.Checkpoints, c)
	if n.MaxIterations > 0 && j.Steers < n.MaxIterations && len(j.QueuedSteers) > 0 {
		err := st.steerAtOnce(j, c, n)
		return Outcome{Kind: Accepted}, c.ID, c.MessageID, err
	}
	err := st.wait(j, c, n)
	return Outcome{Kind: Accepted}, c.ID, c.MessageID, err
}

// wait parks a job at a checkpoint.
func (st *State) wait(j *Job, c *Checkpoint, n NewCheckpoint) error {
	left := st.callbackLeft(j)
	st.stopClocks(j)
	st.setDeadline(j, HumanClock, c.Timeout)
	phase := job.NoPhase
	if n.Hold > 0 {
		c.Held, phase = true, job.Held
		st.setClock(j, HoldClock, n.Hold)
	}
	st.do(KeepSecret{j.ID, j.CallbackTimeout + n.Hold})
	if _, err := st.enter(j, n.Type.State(), phase); err != nil { // the checkpoint's event reports it
		return err
	}
	j.Checkpoint, j.Question, j.QuestionID, j.CallbackLeft, j.Attempt = c.ID, n.Digest, c.ID, left, 0
	st.openCheckpoint(c, opening{chat: n.Chat})
	return nil
}

// steerAtOnce opens a review, answers it with the oldest queued steer and starts the round. It is
// one commit, so that no crash can lose a steer or apply it twice.
func (st *State) steerAtOnce(j *Job, c *Checkpoint, n NewCheckpoint) error {
	steer := j.QueuedSteers[0]
	j.QueuedSteers = j.QueuedSteers[1:]
	j.leaveToNextTurn(steer.Reply.MessageID)
	st.stopClocks(j)
	j.Question, j.QuestionID, j.Attempt = n.Digest, c.ID, 0
	st.openCheckpoint(c, opening{chat: n.Chat, unasked: true})
	c.Reply = &steer.Reply
	if err := st.closeCheckpoint(c, job.Answered); err != nil {
		return err
	}
	st.do(Count{c.Type, string(job.Steer), 1})
	st.auditReply(c, string(job.Steer), steer.By, steer.Reply, Seen{}, "")
	st.keepAnswer(j, c, job.Steer)
	return st.resume(j, ResumeReason{Reason: Replied})
}

// StopWaiting records that the asking call no longer waits, unless the reply arrived in the
// meantime.
func (s *Service) StopWaiting(ctx context.Context, id job.ID, c job.CheckpointID) error {
	return s.run(ctx, Query{Job: id, Checkpoint: c}, func(st *State) error {
		if j, asked := st.Job, st.Checkpoint.Get(); asked != nil && j != nil && j.Checkpoint == c && asked.Held {
			return st.stopHolding(j)
		}
		return nil
	})
}

// AckReply records that Claude received the answer to its question, so that the same question
// counts as a new one from now on.
func (s *Service) AckReply(ctx context.Context, id job.ID, c job.CheckpointID) error {
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		if st.Job != nil {
			st.Job.forgetQuestion(c)
		}
		return nil
	})
}
