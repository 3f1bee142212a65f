package jobs

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

const batchPath = "/api/claude/suggestions/batch"

// dishes returns n different dish names.
func dishes(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s %d", prefix, i)
	}
	return names
}

func TestTwoHundredSuggestionsInBatches(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{})
	id, envelope := n.Manual(t, object{"userId": "u1"})
	events := n.Listen(t, "userId=u1&since=0")
	for i := 1; i <= 9; i++ {
		n.Want(t, 200, "POST", batchPath, rig.With(envelope, object{"batch": i, "suggestions": rig.MealResult(dishes("Soup", 20)...)["suggestions"]}))
	}
	n.Want(t, 200, "POST", batchPath, rig.With(rig.With(envelope, rig.MealResult(dishes("Pie", 20)...)), object{"batch": 10, "final": true}))
	must.Equal(t, 200, len(n.Await(t, id, "received")["result"].(object)["suggestions"].([]any)), "suggestions are kept")
	var totals []any
	for _, f := range events.Until("recipes:suggestions:received") {
		if f["event"] == "recipes:suggestions:partial" {
			totals = append(totals, f["data"].(object)["total"])
		}
	}
	must.Equal(t, []any{20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 140.0, 160.0, 180.0, 200.0}, totals)
}

// limited creates a kind whose list of suggestions is short and without duplicates.
func limited(t *testing.T) vars {
	t.Helper()
	return rig.OwnKind(t, "limited", "---\ndescription: Lists\n---\nList.", `{
		"type": "object", "required": ["suggestions", "reasoning"], "additionalProperties": false,
		"properties": {"reasoning": {"type": "string"},
			"suggestions": {"type": "array", "minItems": 2, "maxItems": 4, "uniqueItems": true, "items": {"type": "string"}}}}`)
}

func TestBatchesAtOnceKeepTheLimit(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, limited(t))
	id, envelope := n.Manual(t, object{"kind": "limited", "userId": "u1"})
	var accepted atomic.Int64
	var calls sync.WaitGroup
	for i := 1; i <= 12; i++ {
		calls.Go(func() {
			status, answer := n.Do(t, "POST", batchPath, rig.With(envelope, object{"batch": i, "suggestions": []string{fmt.Sprint("item ", i)}}))
			switch status {
			case 200:
				accepted.Add(1)
			case 400:
			default:
				t.Errorf("batch %d was answered %d %v", i, status, answer)
			}
		})
	}
	calls.Wait()
	must.Equal(t, 4, accepted.Load(), "batches of one item were accepted")
	if got := len(rig.EventNames(n.StoredEvents(t, id, ""))); got != 2+4 { // pending, running and the batches
		t.Errorf("%d events, want 6", got)
	}
}
