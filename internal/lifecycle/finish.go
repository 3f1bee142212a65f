package lifecycle

import (
	"context"

	"ringback/internal/job"
)

// errorData is the data of the event of a job that expired or failed.
type errorData struct {
	// SuggestionID is the job's requestId.
	SuggestionID job.ID `json:"suggestionId"`
	// Error says for people, ErrorCode for programs why it ended.
	Error     string   `json:"error"`
	ErrorCode job.Code `json:"errorCode"`
}

// fail ends a job as failed or expired. message goes into the record, toUser into
// the chat and the event.
func (st *State) fail(j *Job, to job.State, code job.Code, message, toUser string) error {
	j.Error, j.Code = message, code
	st.addNotice(j.chat(), toUser)
	return st.finish(j, to, errorData{j.ID, toUser, code})
}

// finish ends a job for good, until a person asks for a retry. data is that of its
// event; nil for that of every state. The worker, if any, is given back when its
// process is gone.
func (st *State) finish(j *Job, to job.State, data any) error {
	st.stopClocks(j)
	st.do(DropSecret{j.ID}, LeaveLimit{j.ID, j.UserID})
	j.SecretAlive = false
	// What was allowed ends with the job: whoever retries it is asked anew.
	st.do(DropApprovals{j.ID})
	j.Question, j.QuestionID = "", ""
	if err := st.endWaiting(j, to); err != nil {
		return err
	}
	// After a result, a process that is still there says itself how its calls ended.
	word := string(to)
	if to == job.Received {
		word = "unused"
	}
	if to != job.Received || j.Owner == "" {
		st.endCalls(j, map[CallOwner]string{EndedByTurn: word, EndedByPerson: word})
	}
	if len(j.Standing) > 0 {
		st.do(RemoveStanding{j.UserID, j.ID, j.Standing})
		j.Standing = nil
	}
	j.Checkpoint, j.ResumeReason, j.RestartPending, j.FinishedAt = "", nil, false, st.Now
	st.setClock(j, PurgeClock, j.Retention)
	if err := st.move(j, to, job.NoPhase, data); err != nil {
		return err
	}
	st.notifyEnded(j)
	if j.Interprets.Checkpoint != "" {
		st.addTask(j.ID, TaskRead, string(j.ID))
	}
	if to == job.Received && j.PendingMessages > j.DeliveredMessages {
		st.addTask(j.ID, TaskContinue, string(j.ID))
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

func (st *State) addTask(of job.ID, kind TaskKind, ref string) {
	st.do(AddTask{JobID: of, Kind: kind, Ref: ref, Time: st.Now})
}

// release gives a worker back whose process is gone, and with it the calls it was
// about: the queue entry is done, and the user's next job may go.
func (st *State) release(j *Job) error {
	words := map[CallOwner]string{EndedByTurn: "interrupted"}
	if j.State.Terminal() {
		words[EndedByPerson] = "unused"
	}
	st.endCalls(j, words)
	if j.Entry != "" {
		st.do(DropEntry{j.Priority, j.Entry})
	}
	st.do(ReleaseWorker{j.ID, j.UserID})
	j.Entry, j.Owner = "", ""
	if err := st.startWaiting(j); err != nil {
		return err
	}
	if err := st.stopHolding(j); err != nil {
		return err
	}
	return st.startAfterExit(j)
}

// StartWaiting enqueues the next job of a user that waits for a place, where one is free
// after all: whoever gives a place back does it. It returns whether one was free; without
// mend it only looks.
func (s *Service) StartWaiting(ctx context.Context, id job.ID, mend bool) (bool, error) {
	var free bool
	err := s.run(ctx, Query{Job: id, Running: true, Waiting: true}, func(st *State) error {
		j := st.Job
		free = j != nil && j.Phase == job.WaitingForLimit && j.UserRunning < s.opts.UserLimit
		if !free || !mend {
			return nil
		}
		return st.startWaiting(j)
	})
	return free, err
}

// startWaiting enqueues the next job of the user that was over the limit. Those that
// wait no more must not take the place of one that does.
func (st *State) startWaiting(j *Job) error {
	for _, w := range st.Waiting {
		st.do(LeaveLimit{w.ID, j.UserID})
		if w.State == job.Pending {
			return st.enqueue(w)
		}
	}
	return nil
}

// startAfterExit enqueues what waited for the process to be gone: the job's own next
// turn, or the job that goes on in its conversation.
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
	if j.Follower == "" || f == nil {
		j.Follower = ""
		return nil
	}
	j.Follower = ""
	if f.State != job.Pending {
		return nil
	}
	f.inherit(j) // once more, for only now is it known how the conversation stands
	return st.enqueue(f)
}

// inherit lets a job go on in the conversation of another.
func (j *Job) inherit(from *Job) {
	j.Root = from.Root
	if j.Root == "" {
		j.Root = from.ID
	}
	j.Conversation, j.Begun, j.Answers = max(from.Conversation, 1), from.Begun, from.Answers
	j.ConversationAt = from.ConversationAt
	// The CLI counts the cost of the whole conversation: what it cost so far is not
	// this job's.
	j.CostBefore = from.CostBefore - from.CostUSD
	if from.Begun && from.Simulated {
		j.Simulated = true // what the stand-in has begun, nobody else can go on with
	}
}
