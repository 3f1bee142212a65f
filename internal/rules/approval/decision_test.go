package approval_test

import (
	"testing"
	"time"

	"ringback/internal/rules/approval"
	"ringback/test/must"
)

func TestWhatADecisionIsWorth(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	yes := approval.Decision{Checkpoint: "chk_00_a", Until: now.Add(time.Minute)}
	no := approval.Decision{Checkpoint: "chk_00_a", Denied: true}
	for name, row := range map[string]struct {
		decision *approval.Decision
		after    time.Duration
		want     approval.Use
	}{
		"nobody has decided":               {nil, 0, approval.Missing},
		"a yes at once":                    {&yes, 0, approval.Permitted},
		"a yes in the last moment":         {&yes, time.Minute, approval.Permitted},
		"a yes a moment too late":          {&yes, time.Minute + time.Millisecond, approval.Expired},
		"a no, however late":               {&no, time.Hour, approval.Denied},
		"a decision that was never stored": {new(approval.Decision), 0, approval.Expired},
	} {
		must.Equal(t, row.want, row.decision.At(now.Add(row.after)), name)
	}
}
