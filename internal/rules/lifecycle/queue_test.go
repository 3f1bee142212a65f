package lifecycle

import (
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

func TestWhetherATurnCallsClaude(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		record Record
		calls  bool
	}{
		"a new job":                               {Record{}, true},
		"a simulated job":                         {Record{Simulated: true}, false},
		"one that a person plays by hand":         {Record{Manual: true}, false},
		"an approved change":                      {Record{HasWorkspace: true, Submitted: true, Captured: 1, ClaudeTurns: 1, Reviewed: job.Approve}, false},
		"an approval of something else":           {Record{Reviewed: job.Approve}, true},
		"a captured change":                       {Record{HasWorkspace: true, Submitted: true, Captured: 1, ClaudeTurns: 1}, false},
		"one that is not captured yet":            {Record{HasWorkspace: true, Submitted: true, ClaudeTurns: 1}, true},
		"one captured in an earlier turn":         {Record{HasWorkspace: true, Submitted: true, Captured: 1, ClaudeTurns: 2}, true},
		"a captured change with another steer":    {Record{HasWorkspace: true, Submitted: true, Captured: 1, ClaudeTurns: 1, Reviewed: job.Steer}, true},
		"a change that Claude has to make again":  {Record{HasWorkspace: true, Captured: 1, ClaudeTurns: 1}, true},
		"a simulated change, steered by a person": {Record{HasWorkspace: true, Simulated: true, Reviewed: job.Steer}, false},
	} {
		must.Equal(t, c.calls, c.record.NeedsClaude(), name)
	}
}
