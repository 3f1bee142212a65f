package runner

import (
	"errors"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/review"
)

func TestWhyATurnEnds(t *testing.T) {
	t.Parallel()
	waits, held := &job.Checkpoint{}, &job.Checkpoint{Held: true}
	for name, c := range map[string]struct {
		now  job.Job
		step review.Step
		want error
	}{
		"Claude is at work":                            {now: job.Job{Turn: 1, State: job.Running}},
		"Claude has submitted a change":                {now: job.Job{Turn: 1, State: job.Running, Submitted: true}, want: errDelivered},
		"the submitted change is being captured":       {now: job.Job{Turn: 1, State: job.Running, Submitted: true}, step: review.Submission{}},
		"a person is asked, the call waits":            {now: job.Job{Turn: 1, State: job.AwaitingInput, Checkpoint: held}},
		"a person is asked, Claude was told to stop":   {now: job.Job{Turn: 1, State: job.AwaitingInput, Checkpoint: waits}, want: errDelivered},
		"a person was asked, the question is gone":     {now: job.Job{Turn: 1, State: job.AwaitingApproval}, want: errDelivered},
		"the change is under review":                   {now: job.Job{Turn: 1, State: job.AwaitingApproval, Checkpoint: waits, Submitted: true}, step: review.Submission{}, want: errDelivered},
		"another node began this turn anew":            {now: job.Job{Turn: 1, Node: "other", State: job.Running}, want: errSuperseded},
		"the store has gone back to before it":         {now: job.Job{State: job.Pending}, want: errSuperseded},
		"the reply has come, the next turn waits":      {now: job.Job{Turn: 1, State: job.Pending, Phase: job.WaitingForExit}, want: errJobEnded},
		"the node was given up, nobody runs the job":   {now: job.Job{Turn: 1, State: job.Pending, Phase: job.Queued}, want: errSuperseded},
		"the result is there":                          {now: job.Job{Turn: 1, State: job.Received}, want: errDelivered},
		"the job was cancelled":                        {now: job.Job{Turn: 1, State: job.Cancelled}, want: errJobEnded},
		"the job was cancelled with a change":          {now: job.Job{Turn: 1, State: job.Cancelled, Submitted: true}, want: errJobEnded},
		"the job expired":                              {now: job.Job{Turn: 1, State: job.Expired}, want: errJobEnded},
		"the job failed":                               {now: job.Job{Turn: 1, State: job.Failed}, want: errJobEnded},
		"the change was rejected":                      {now: job.Job{Turn: 1, State: job.Rejected}, want: errJobEnded},
		"another node runs the next turn":              {now: job.Job{Turn: 2, State: job.Running}, want: errSuperseded},
		"another node's turn has delivered":            {now: job.Job{Turn: 2, State: job.Received}, want: errSuperseded},
		"another node's turn has submitted its change": {now: job.Job{Turn: 2, State: job.Running, Submitted: true}, want: errSuperseded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := &ownedTurn{job: job.Job{Turn: 1}, step: c.step}
			if got := turn.endState(c.now); !errors.Is(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// The server's own work for a change that Claude has submitted is tried again, whatever has ended Claude.
func TestWhatEndsClaudeDoesNotEndTheServersWork(t *testing.T) {
	t.Parallel()
	failed := &review.Error{Code: job.CodeWorkspace, Message: "no descriptors"}
	for name, end := range map[string]lifecycle.TurnEnd{
		"nothing":          {Again: true},
		"a budget":         {Code: job.CodeBudgetExceeded, Budget: &job.UsedBudget{}, Again: true},
		"the CLI's budget": {Code: job.CodeBudget},
		"a usage limit":    {Code: job.CodeUsageLimit, RateLimit: &lifecycle.RateLimit{}, Again: true},
	} {
		got := withFailedStep(end, failed)
		if got.Budget != nil || got.RateLimit != nil || !got.Again || got.Code != failed.Code || got.Message != failed.Message {
			t.Errorf("after %s: %+v", name, got)
		}
	}
}
