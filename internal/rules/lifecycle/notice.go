package lifecycle

import (
	"context"
	"strconv"
	"time"

	"ringback/internal/job"
)

// Notice is a notification to an outside receiver. It describes what happened, whatever happens to
// the job before it is delivered: its body is composed once and stored in the same commit.
type Notice struct {
	// Job is the job that asks or has ended; nil for a question from outside Ringback.
	Job *job.Job
	// Checkpoint is the question that was asked or answered, or whose reply had an outcome; nil for the
	// end of a job.
	Checkpoint *job.Checkpoint
	// Sequence rises with each change of Job, so that receivers can order its notices.
	Sequence int64
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
			st.addTask(j.ID, TaskKind(way), "opened|"+string(c.ID), &Notice{Checkpoint: new(c.View())})
		}
	}
}

// notifyConcluded notifies outside receivers of what came of what a person has allowed. That of a change can
// come twice, see reopenReview.
func (st *State) notifyConcluded(j *Job, c *Checkpoint) {
	ref := "outcome|" + string(c.ID) + "|" + strconv.FormatInt(j.Version+1, 10)
	for _, way := range j.Notify {
		st.addTask(j.ID, TaskKind(way), ref, &Notice{Checkpoint: new(c.View())})
	}
}

// notifyEnded notifies outside receivers that a job has ended. A job can be retried, so it may end
// more than once in one turn; its version distinguishes the ends.
func (st *State) notifyEnded(j *Job) {
	ref := "ended|" + string(j.ID) + "|" + strconv.FormatInt(j.Version+1, 10)
	for _, way := range j.Notify {
		st.addTask(j.ID, TaskKind(way), ref, new(Notice))
	}
}

// notifyAnswered sends the reply to the outside system that asked.
func (st *State) notifyAnswered(c *Checkpoint) {
	var props job.Props
	_ = job.UnmarshalExact(c.Head.Props, &props) // they were checked when the question was asked
	st.addTask("", TaskResume, string(c.ID), &Notice{Checkpoint: new(c.View()), Address: props.ResumeURL})
}

// compose composes the bodies of the notices, from the state of their jobs after all decisions.
func (s *Service) compose(ctx context.Context, st *State) error {
	if s.opts.ComposeFunc == nil {
		return nil
	}
	for _, e := range st.Effects {
		task, ok := e.(AddTask)
		if !ok || task.Notice == nil {
			continue
		}
		for _, j := range st.Jobs() {
			if j.ID != task.JobID {
				continue
			}
			// What rules do not load. If it has changed since they loaded the job, the commit is refused.
			was, err := s.store.Get(ctx, j.ID)
			if err != nil {
				return err
			}
			task.Notice.Job, task.Notice.Sequence = j.shown(st, was), j.Version+1
		}
		// A transition never fails because its notice cannot be composed: the outbox retries and
		// logs it.
		task.Notice.Body, _ = s.opts.ComposeFunc(task.Kind, *task.Notice)
	}
	return nil
}

// shownAfter returns a job as people see it, with what is not loaded as it was before.
func (j *Job) shownAfter(was job.Job) job.Job {
	now := j.AsShown()
	now.Input, now.Options, now.Result, now.Activity = was.Input, was.Options, was.Result, was.Activity
	return now
}

// shown returns a job as people will see it after this commit. was is how they saw it before.
func (j *Job) shown(st *State, was job.Job) *job.Job {
	now := j.shownAfter(was)
	if len(j.Result) > 0 {
		now.Result = j.Result
	}
	now.UpdatedAt = st.Now.Truncate(time.Millisecond)
	now.Checkpoint = nil
	if c := st.waitsAt(j); c != nil {
		now.Checkpoint = new(c.View())
	}
	return &now
}
