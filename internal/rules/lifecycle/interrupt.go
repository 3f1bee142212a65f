package lifecycle

import (
	"context"

	"ringback/internal/job"
)

// Interruption is a request to stop part of a running turn.
type Interruption struct {
	// Message is the message with the request; empty for none. By is its sender.
	Message string
	By      job.Actor
	// Turn is true to stop the whole turn, not only the commands that it runs.
	Turn bool
}

// Interrupt stops the commands of a job's running turn, or the whole turn at the second request. It
// costs no attempt, and answers no question. Errors: Conflict if Claude is not at work; TooMany if too
// many messages wait.
func (s *Service) Interrupt(ctx context.Context, id job.ID, what Interruption) error {
	return s.runDurably(ctx, Query{Job: id}, func(st *State) error { return st.interrupt(id, what) })
}

const cancelInstead = "To end the job, cancel it."

func (st *State) interrupt(id job.ID, what Interruption) error {
	j := st.Job
	switch {
	case j == nil:
		return job.NoJob(id)
	case j.State.Parked():
		return job.Errorf(job.Conflict, "The job is %s", j.State).WithHint(
			"It waits for a reply: answer its question, or cancel the job.",
		)
	case j.Manual && !j.State.Terminal():
		return job.Errorf(job.Conflict, "The turn cannot be interrupted: a person plays Claude").WithHint(cancelInstead)
	case j.State == job.Running && j.Submitted:
		return job.Errorf(job.Conflict, "The turn cannot be interrupted: it has submitted its result").WithHint(cancelInstead)
	case j.State != job.Running || j.Phase != job.AtWork:
		doing := string(j.State)
		if j.Phase != job.NoPhase {
			doing += " (" + string(j.Phase) + ")"
		}
		return job.Errorf(job.Conflict, "The turn cannot be interrupted: the job is %s", doing).
			WithHint("Only a job that is running in phase %s can be interrupted; to end the job, cancel it.", job.AtWork)
	}
	if what.Message != "" {
		body := job.Text(job.FromUser, what.Message)
		body.By = what.By.SpeaksFor(j.UserID)
		if _, err := st.keepForClaude(j, j.chat().about(body)); err != nil {
			return err
		}
	}
	scope := job.InterruptCommand
	if what.Turn || j.isInterrupted() {
		scope = job.InterruptTurn
	}
	j.Interrupt = &job.Interrupt{Turn: j.Turn, Scope: scope, Time: st.Now}
	st.emit(j.recipient(), job.EventRunning, stateData{Status: j.State, Phase: j.Phase, Interrupt: j.Interrupt})
	return nil
}

// isInterrupted reports whether a person has interrupted the latest turn.
func (j *Job) isInterrupted() bool { return j.Interrupt != nil && j.Interrupt.Turn == j.Turn }

// isTurnInterrupted reports whether a person has stopped the whole turn.
func (j *Job) isTurnInterrupted() bool {
	return j.isInterrupted() && j.Interrupt.Scope == job.InterruptTurn
}

// CommandsStopped records that the commands that a person interrupted have been stopped.
func (s *Service) CommandsStopped(ctx context.Context, id job.ID, h Holder) error {
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		j := st.Job
		if j != nil && h.check(j) == nil && j.isInterrupted() && j.Interrupt.Scope == job.InterruptCommand {
			done := *j.Interrupt
			done.Done = true
			j.Interrupt = &done
		}
		return nil
	})
}

// continueInterrupted starts another turn after one that a person has interrupted. This does not count as an
// attempt.
func (st *State) continueInterrupted(j *Job) error {
	st.stopClocks(j)
	return st.resume(j, ResumeReason{Reason: Interrupted})
}
