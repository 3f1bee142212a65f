package lifecycle

import (
	"cmp"
	"context"
	"errors"

	"ringback/internal/job"
)

// errorData is the event data of a job that expired or failed.
type errorData struct {
	// SuggestionID is the job's requestId.
	SuggestionID job.ID `json:"suggestionId"`
	// Error is the reason for people, and ErrorCode the reason for programs.
	Error     string   `json:"error"`
	ErrorCode job.Code `json:"errorCode"`
}

// fail ends a job as failed or expired. message is for the record, toUser for the chat and the
// event.
func (st *State) fail(j *Job, to job.State, code job.Code, message, toUser string) error {
	j.Error, j.Code = message, code
	st.addNotice(j.chat(), toUser)
	return st.finish(j, to, errorData{j.ID, toUser, code})
}

// finish ends a job for good, unless a person retries it. data is the event's data; nil for the
// default. The worker, if any, is released when its process has exited.
func (st *State) finish(j *Job, to job.State, data any) error {
	from := j.Phase
	st.stopClocks(j)
	st.do(DropSecret{j.ID})
	j.Secret.Set("")
	// Approvals end with the job: after a retry, people are asked again. See retry for that of a change.
	st.dropPermissions(j, endedFirst(to))
	j.Question, j.QuestionID = "", ""
	if err := st.endWaiting(j, to); err != nil {
		return err
	}
	// After a result, a process that is still running reports the end of its calls itself.
	word := string(to)
	if to == job.Received {
		word = "unused"
	}
	if to != job.Received || j.Owner == "" {
		st.endCalls(j, map[CallOwner]string{EndedByTurn: word, EndedByPerson: word})
	}
	j.Checkpoint, j.ResumeReason, j.RestartPending, j.FinishedAt = "", nil, false, st.Now
	st.setClock(j, PurgeClock, j.Retention)
	if err := st.move(j, to, job.NoPhase, data); err != nil {
		return err
	}
	st.concludeEnded(j, from)
	if public := j.publicWords(); to != job.Received && public != "" {
		st.addNotice(j.chat(), public)
	}
	st.notifyEnded(j)
	if j.Interprets.Checkpoint != "" {
		st.addTask(j.ID, TaskRead, string(j.ID), nil)
	}
	switch {
	case to != job.Received || j.unread() == 0:
	case j.starts():
		st.addTask(j.ID, TaskContinue, string(j.ID), nil)
	default:
		st.addNotice(j.chat(), "Claude ended before it had read the last message, which may start no other job: nothing was started.")
	}
	return nil
}

// endWaiting closes the checkpoint of a job that ends while it waits there.
func (st *State) endWaiting(j *Job, to job.State) error {
	c := st.waitsAt(j)
	if c == nil || !c.Status.Waits() {
		return nil
	}
	event, status := "withdrawn", job.CheckpointCancelled
	if to == job.Expired {
		event, status = "expired", job.CheckpointExpired
	}
	st.auditCheckpoint(j, c, job.AuditEntry{Event: event})
	return st.closeCheckpoint(c, status)
}

// addTask schedules a task of a job. n is nil unless it is a notification.
func (st *State) addTask(of job.ID, kind TaskKind, ref string, n *Notice) {
	st.do(AddTask{JobID: of, Kind: kind, Ref: ref, Time: st.Now, Notice: n})
}

// release frees the worker of a process that is gone, and ends the process's tool calls. It removes
// the queue entry.
func (st *State) release(j *Job) error {
	words := map[CallOwner]string{EndedByTurn: "interrupted"}
	if j.State.Terminal() {
		words[EndedByPerson] = "unused"
	}
	st.endCalls(j, words)
	if j.Entry != "" {
		st.do(DropEntry{j.Priority, j.Entry})
	}
	j.Entry, j.Owner = "", ""
	if err := st.stopHolding(j); err != nil {
		return err
	}
	if err := st.withdrawPermission(j); err != nil {
		return err
	}
	return st.startAfterExit(j)
}

// StartWaiting enqueues the next waiting job of a user if a slot is free, and reports whether one was. This is a repair:
// normally, the job that frees a slot does it. If mend is false, it changes nothing.
func (s *Service) StartWaiting(ctx context.Context, id job.ID, mend bool) (bool, error) {
	return resultOf(ctx, s.run, Query{Job: id, Running: true, Waiting: true}, func(st *State) (bool, error) {
		j := st.Job
		free := j != nil && j.IsOverLimit() && j.UserRunning.Get() < s.opts.UserLimit
		if !free || !mend {
			return free, nil
		}
		return free, st.startWaiting(j.UserID)
	})
}

// startWaiting enqueues the next job of a user that is over the limit. Jobs that no longer wait are
// skipped, so that they do not use up the slot.
func (st *State) startWaiting(user string) error {
	line := st.Waiting.Get()[user]
	if line == nil {
		return job.Errorf(job.Internal, "The waiting jobs of a user were not loaded")
	}
	for _, w := range line.Jobs {
		if w.IsOverLimit() {
			return st.enqueue(w)
		}
	}
	return nil
}

// handOn gives each place that a job has left, with a worker or in the queue, to the user's next job over
// the limit. Every commit passes through here, so a place cannot be left by another door. A job is over
// the limit only while all places are taken, which its commit guards, so that none is left free.
func (st *State) handOn() error {
	for _, j := range st.Jobs() {
		if !j.leavesPlace() {
			continue
		}
		if !st.Waiting.loaded {
			return errLine
		}
		if err := st.startWaiting(j.UserID); err != nil {
			return err
		}
	}
	return nil
}

// errLine is returned if a decision needs jobs over the limit that were not loaded.
var errLine = errors.New("the jobs over the limit were not loaded")

// leavesPlace reports whether the commit takes a job's worker from it, or takes it out of the queue without
// giving it one.
func (j *Job) leavesPlace() bool {
	was, is := &j.Loaded, &j.Record
	if j.Deleted != nil {
		is = new(Record)
	}
	return was.Owner != "" && is.Owner == "" || was.IsQueued() && !is.IsQueued() && is.Owner == "" && !is.IsOverLimit()
}

// startAfterExit enqueues what waited for the exit of the process: the job's own next turn, or the
// job that continues its conversation.
func (st *State) startAfterExit(j *Job) error {
	if j.RestartPending {
		j.RestartPending = false
		if j.State == job.Pending {
			if err := st.enqueue(j); err != nil {
				return err
			}
		}
	}
	f := st.Follower
	if j.Follower == "" || f == nil || f.State != job.Pending {
		j.Follower = ""
		return nil
	}
	j.Follower = ""
	st.inherit(f, j) // again, because what the conversation contains is known only now
	j.handOver(f)
	return st.enqueue(f)
}

// inherit makes a job continue the conversation of another.
func (st *State) inherit(j, from *Job) {
	j.Root = cmp.Or(from.Root, from.ID)
	j.Conversation, j.Begun = max(from.Conversation, 1), from.Begun
	j.ConversationAt, j.KnownAnswers = from.ConversationAt, from.KnownAnswers
	st.do(CopyAnswers{j.ID, from.ID})
	// The CLI reports the cost of the whole conversation. Its cost so far does not belong to this
	// job.
	j.CostBefore = from.CostBefore - from.CostUSD
	if from.Begun && from.Simulated {
		j.Simulated = true // only the stand-in can continue its own conversation
	}
}
