package lifecycle

import (
	"context"
	"encoding/json"
	"time"

	"ringback/internal/job"
)

// NewCheckpoint is a question to be put to a person.
type NewCheckpoint struct {
	// RequestID is the job that asks; empty for something outside Ringback.
	RequestID job.ID
	// Holder is the node that asks for the job, where it is one: ErrSuperseded says that it
	// does not have the turn any more.
	Holder Holder
	// UserID and SessionID say whom it is put to.
	UserID    string
	SessionID string
	Type      job.CheckpointType
	Message   string
	Props     json.RawMessage
	// Chat is how it reads in the session; the checkpoint's id is added.
	Chat job.MessageBody
	// Digest recognises the question when the call is repeated.
	Digest string
	// Hold is how long the call waits for the reply.
	Hold time.Duration
	// ApprovalKey is what an approval would be for, with its input; empty for nothing.
	ApprovalKey string
	// AuditFields is the same for the audit log.
	AuditFields job.Operation
	// ToolCallID is its id as a tool call in the chat.
	ToolCallID string
	// MaxIterations is how often the change under review may be steered: a steer
	// that waits answers the review at once. 0: none does.
	MaxIterations int
}

// record is the checkpoint as it is stored.
func (n NewCheckpoint) record(id job.CheckpointID, to Recipient, timeout time.Duration) *Checkpoint {
	if len(n.Props) == 0 {
		n.Props = json.RawMessage("{}")
	}
	return &Checkpoint{
		ID: id, Type: n.Type, JobID: to.JobID, UserID: to.UserID, SessionID: to.SessionID,
		Head:        Head{id, n.Type, n.Message, n.Props, n.RequestID, n.SessionID, n.UserID},
		EventPrefix: to.EventPrefix, Retention: to.Retention, Timeout: timeout,
		ApprovalKey: n.ApprovalKey, AuditFields: n.AuditFields, ToolCallID: n.ToolCallID,
	}
}

// outsidePrefix begins the events of checkpoints and messages that belong to no job.
const outsidePrefix = "chat"

// Ask puts a question to a person. A job stops at it: its callback clock stands still
// and the human clock runs. For a job the outcome may also be Repeated, Busy, Refused
// or Unknown.
func (s *Service) Ask(ctx context.Context, n NewCheckpoint) (outcome Outcome, id job.CheckpointID, message int64, err error) {
	fresh := job.CheckpointID(s.store.NewID(job.CheckpointIDs, n.UserID))
	if n.RequestID == "" {
		if err := s.store.RememberSession(ctx, n.SessionID, n.UserID); err != nil {
			return Outcome{}, "", 0, err
		}
		err = s.promise(ctx, Query{UserID: n.UserID, SessionID: n.SessionID, Home: n.UserID}, func(st *State) error {
			outcome, id, message = st.askFromOutside(s.opts, n, fresh)
			return nil
		})
		return outcome, id, message, err
	}
	err = s.promise(ctx, Query{Job: n.RequestID, Question: true, Steers: n.MaxIterations > 0}, func(st *State) (err error) {
		outcome, id, message, err = st.ask(s.opts, n, fresh)
		return err
	})
	return outcome, id, message, err
}

func (st *State) askFromOutside(opts Options, n NewCheckpoint, id job.CheckpointID) (Outcome, job.CheckpointID, int64) {
	to := Recipient{UserID: n.UserID, SessionID: n.SessionID, EventPrefix: outsidePrefix, Retention: opts.Retention}
	c := n.record(id, to, opts.HumanTimeout)
	st.Checkpoint = c
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
	switch { // the client repeats a call whose answer it lost
	case n.Digest != "" && j.Question == n.Digest:
		var message int64
		if st.Asked != nil {
			message = st.Asked.MessageID
		}
		return Outcome{Kind: Repeated}, j.QuestionID, message, nil
	case j.Checkpoint != "":
		return Outcome{Kind: Busy}, j.Checkpoint, 0, nil
	case j.State != job.Running:
		return RefusedIn(j.State), "", 0, nil
	case !j.SecretAlive:
		return RefusedIn(job.Expired), "", 0, nil
	}
	c := n.record(id, j.recipient(), opts.HumanTimeout)
	st.Checkpoints = append(st.Checkpoints, c)
	if n.MaxIterations > 0 && j.Steers < n.MaxIterations && len(j.Queued) > 0 {
		err := st.steerAtOnce(j, c, n)
		return Outcome{Kind: Accepted}, c.ID, c.MessageID, err
	}
	err := st.wait(j, c, n)
	return Outcome{Kind: Accepted}, c.ID, c.MessageID, err
}

// wait lets a job wait at a checkpoint.
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
	if _, err := st.enter(j, n.Type.State(), phase); err != nil { // its event is the checkpoint's
		return err
	}
	j.Checkpoint, j.Question, j.QuestionID, j.CallbackLeft, j.Attempt = c.ID, n.Digest, c.ID, left, 0
	st.openCheckpoint(c, opening{chat: n.Chat})
	return nil
}

// steerAtOnce opens a review, takes the oldest steer that waits as its answer and
// starts the round: one step, so that a steer is neither lost nor done twice, whoever
// dies.
func (st *State) steerAtOnce(j *Job, c *Checkpoint, n NewCheckpoint) error {
	steer := j.Queued[0]
	j.Queued = j.Queued[1:]
	st.do(DequeueSteer{j.ID})
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

// StopWaiting notes that the call which asked no longer waits, unless the reply came
// at that very moment. It returns the checkpoint's status.
func (s *Service) StopWaiting(ctx context.Context, id job.ID, c job.CheckpointID) (job.CheckpointStatus, error) {
	var status job.CheckpointStatus
	err := s.run(ctx, Query{Job: id, Checkpoint: c}, func(st *State) error {
		if st.Checkpoint == nil {
			return nil
		}
		status = st.Checkpoint.Status
		if j := st.Job; j != nil && j.Checkpoint == c && st.Checkpoint.Held {
			return st.stopHolding(j)
		}
		return nil
	})
	return status, err
}

// AckReply notes that Claude was given the answer to its question: the same question
// is a new one from now on.
func (s *Service) AckReply(ctx context.Context, id job.ID, c job.CheckpointID) error {
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		if j := st.Job; j != nil && j.QuestionID == c {
			j.Question, j.QuestionID = "", ""
		}
		return nil
	})
}
