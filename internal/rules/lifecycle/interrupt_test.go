package lifecycle

import (
	"errors"
	"strings"
	"testing"

	"ringback/internal/job"
)

// Only Claude at work can be interrupted. At any other time the answer says what the job does, and what
// to do instead; nothing is changed, and no message is kept.
func TestInterruptInEachPhase(t *testing.T) {
	t.Parallel()
	const end = "to end the job, cancel it."
	for name, c := range map[string]struct {
		situation  string
		change     func(*Job)
		want, hint string // want is empty if it is interrupted
	}{
		"at work":             {situation: "running"},
		"at work, late":       {situation: "running, late"},
		"queued":              {"pending", nil, "the job is pending (queued)", end},
		"waiting for a limit": {"pending", func(j *Job) { j.Phase = job.WaitingForLimit }, "the job is pending (waiting_for_limit)", end},
		"preparing":           {"running", func(j *Job) { j.Phase = job.Preparing }, "the job is running (preparing)", end},
		"capturing":           {"running", func(j *Job) { j.Phase = job.Capturing }, "the job is running (capturing)", end},
		"verifying":           {"running", func(j *Job) { j.Phase = job.Verifying }, "the job is running (verifying)", end},
		"publishing":          {"running", func(j *Job) { j.Phase = job.Publishing }, "the job is running (publishing)", end},
		"submitted":           {"running", func(j *Job) { j.Submitted = true }, "it has submitted its result", "To end the job, cancel it."},
		"played by a person":  {"running", func(j *Job) { j.Manual = true }, "a person plays Claude", "To end the job, cancel it."},
		"held":                {"held", nil, "The job is awaiting_input", "answer its question, or cancel the job."},
		"parked":              {"parked", nil, "The job is awaiting_approval", "answer its question, or cancel the job."},
		"received":            {"received", nil, "the job is received", end},
		"failed":              {"failed", nil, "the job is failed", end},
	} {
		st := jobIn(c.situation)
		if c.change != nil {
			c.change(st.Job)
		}
		err := st.interrupt(st.Job.ID, Interruption{Message: "Stop"})
		if c.want == "" {
			if err != nil || st.Job.Interrupt == nil || len(st.Job.Words) != 1 {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		refused, _ := errors.AsType[*job.Error](err)
		if refused == nil || refused.Kind != job.Conflict || !strings.HasSuffix(refused.Message, c.want) || !strings.HasSuffix(refused.Hint, c.hint) {
			t.Errorf("%s: answered %+v", name, err)
		}
		if st.Job.Interrupt != nil || st.Job.Words != nil || len(st.Effects) > 0 {
			t.Errorf("%s: it was refused, and did %v", name, st.Effects)
		}
	}
}
