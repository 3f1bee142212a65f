package lifecycle

import (
	"encoding/json"
	"strconv"
	"time"

	"ringback/internal/job"
)

// Notice is a notification to an outside receiver. It describes what happened, whatever happens to
// the job before it is delivered: its body is composed once and stored in the same commit.
type Notice struct {
	// Job is the job that asks or has ended; nil for a question from outside Ringback.
	Job *job.Job
	// Checkpoint is the question that was asked or answered; nil for the end of a job.
	Checkpoint *job.Checkpoint
	// Address is the URL to send it to; empty for the configured one.
	Address string
	// Body is the body to send. If it could not be composed, it is empty, and the sender composes
	// it from the data that is stored then.
	Body []byte
}

// ComposeFunc composes the body of a notice.
type ComposeFunc func(TaskKind, Notice) ([]byte, error)

// Notices lists the kinds of tasks that are notifications.
var Notices = [...]TaskKind{TaskWebhook, TaskSlack, TaskResume}

// notifyAsked notifies outside receivers that a job asks.
func (st *State) notifyAsked(j *Job, c *Checkpoint, notBySlack bool) {
	for _, way := range j.Notify {
		if !notBySlack || TaskKind(way) != TaskSlack {
			shown := c.View()
			st.do(AddTask{
				JobID: j.ID, Kind: TaskKind(way), Ref: "opened|" + string(c.ID),
				Time: st.Now, Notice: &Notice{Checkpoint: &shown},
			})
		}
	}
}

// notifyEnded notifies outside receivers that a job has ended. A job can be retried, so it may end
// more than once in one turn; its version distinguishes the ends.
func (st *State) notifyEnded(j *Job) {
	ref := "ended|" + string(j.ID) + "|" + strconv.FormatInt(j.Version+1, 10)
	for _, way := range j.Notify {
		st.do(AddTask{JobID: j.ID, Kind: TaskKind(way), Ref: ref, Time: st.Now, Notice: new(Notice)})
	}
}

// notifyAnswered sends the reply to the outside system that asked.
func (st *State) notifyAnswered(c *Checkpoint) {
	shown := c.View()
	var props job.Props
	_ = json.Unmarshal(shown.Props, &props) // they were checked when the question was asked
	st.do(AddTask{
		Kind: TaskResume, Ref: string(c.ID), Time: st.Now, Notice: &Notice{Checkpoint: &shown, Address: props.ResumeURL},
	})
}

// compose composes the bodies of the notices, from the state of their jobs after all decisions.
func (st *State) compose(compose ComposeFunc) {
	if compose == nil {
		return
	}
	for _, e := range st.Effects {
		task, ok := e.(AddTask)
		if !ok || task.Notice == nil {
			continue
		}
		if task.JobID != "" {
			task.Notice.Job = st.shown(task.JobID)
		}
		// A transition never fails because its notice cannot be composed: the outbox retries and
		// logs it.
		task.Notice.Body, _ = compose(task.Kind, *task.Notice)
	}
}

// shown returns a job as people will see it after this commit.
func (st *State) shown(id job.ID) *job.Job {
	for _, j := range st.Jobs() {
		if j.ID == id {
			return j.shown(st)
		}
	}
	return nil
}

func (j *Job) shown(st *State) *job.Job {
	now := j.AsShown()
	now.Input, now.Options, now.Result, now.Activity = j.View.Input, j.View.Options, j.View.Result, j.View.Activity
	if len(j.Result) > 0 {
		now.Result = j.Result
	}
	now.UpdatedAt = st.Now.Truncate(time.Millisecond)
	now.Checkpoint = nil
	if c := st.waitsAt(j); c != nil {
		shown := c.View()
		now.Checkpoint = &shown
	}
	return &now
}
