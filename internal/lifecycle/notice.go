package lifecycle

import (
	"encoding/json"
	"strconv"
	"time"

	"ringback/internal/job"
)

// Notice is something that the outside is told. It says what happened, whatever becomes of the
// job before it gets through: its body is made once and stored in the commit that it tells of.
type Notice struct {
	// Job is the job that asks or has ended; nil for something outside Ringback.
	Job *job.Job
	// Checkpoint is what was asked, or answered; nil for the end of a job.
	Checkpoint *job.Checkpoint
	// Address is where to send it, if not to one of the configuration.
	Address string
	// Body is what is sent. It is empty if it could not be made: then whoever sends the
	// notice makes it of what is stored by then.
	Body []byte
}

// ComposeFunc makes the body of a notice.
type ComposeFunc func(TaskKind, Notice) ([]byte, error)

// Notices are the tasks that notify the outside.
var Notices = [...]TaskKind{TaskWebhook, TaskSlack, TaskResume}

// notifyAsked notifies the outside that a job asks.
func (st *State) notifyAsked(j *Job, c *Checkpoint, notBySlack bool) {
	for _, way := range j.Notify {
		if !notBySlack || TaskKind(way) != TaskSlack {
			shown := c.View()
			st.do(AddTask{j.ID, TaskKind(way), "opened|" + string(c.ID), st.Now, &Notice{Checkpoint: &shown}})
		}
	}
}

// notifyEnded notifies the outside that a job has ended. A job may end more than once in one
// turn, for it can be retried: its version tells the ends apart.
func (st *State) notifyEnded(j *Job) {
	ref := "ended|" + string(j.ID) + "|" + strconv.FormatInt(j.Version+1, 10)
	for _, way := range j.Notify {
		st.do(AddTask{j.ID, TaskKind(way), ref, st.Now, new(Notice)})
	}
}

// notifyAnswered tells whoever asked from outside what the reply is.
func (st *State) notifyAnswered(c *Checkpoint) {
	shown := c.View()
	var props job.Props
	_ = json.Unmarshal(shown.Props, &props) // they were checked when the question was put
	st.do(AddTask{"", TaskResume, string(c.ID), st.Now, &Notice{Checkpoint: &shown, Address: props.ResumeURL}})
}

// compose makes the bodies of the notices, of what their jobs are when all is decided.
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
		// No transition fails because its notice cannot be made: the outbox tries again, and logs it.
		task.Notice.Body, _ = compose(task.Kind, *task.Notice)
	}
}

// shown is a job as people see it once this is committed.
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
