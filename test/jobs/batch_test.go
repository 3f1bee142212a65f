package jobs

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"

	"github.com/google/go-cmp/cmp"
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

func TestWhatABatchMakesImpossibleIsRefusedThere(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		maps.Copy(env, limited(t))
		n := rig.Start(t, env)
		start := func() (string, func(status, index int, final bool, items ...string) object) {
			id, envelope := n.Manual(t, object{"kind": "limited", "userId": "u1"})
			return id, func(status, index int, final bool, items ...string) object {
				t.Helper()
				body := rig.With(envelope, object{"batch": index, "final": final, "suggestions": append([]string{}, items...)})
				if final {
					body["reasoning"] = "Because."
				}
				return n.Want(t, status, "POST", batchPath, body)
			}
		}
		id, batch := start()
		batch(200, 1, false, "a", "b", "c")
		for _, final := range []bool{false, true} {
			full := rig.Details(t, batch(400, 2, final, "d", "e"))["/suggestions"]
			must.Equal(t, "found 2 items, after 3 in earlier batches; all batches together may hold at most 4: send 1 at most, then the final batch", full, "final", final, "says")
			same := rig.Details(t, batch(400, 2, final, "b"))["/suggestions/0"]
			must.Equal(t, "is the same as item 1 of batch 1; every item of all batches must be different: leave it out", same, "final", final, "says")
		}
		if within := rig.Details(t, batch(400, 2, false, "x", "x"))["/suggestions/1"]; within == "" {
			t.Error("items that are the same within a batch are not told")
		}
		batch(200, 3, false, "d")                // a gap is not an error until the end
		batch(200, 1, false, "a", "b", "c")      // nor is a repeated batch
		batch(409, 1, false, "a", "b", "c", "d") // but other content is
		must.Contain(t, rig.Details(t, batch(400, 2, false, "e"))["/suggestions"], "send the final batch, with none")
		batch(200, 2, false)
		batch(200, 4, true)
		if got := n.Await(t, id, "received")["result"].(object)["suggestions"]; cmp.Diff([]any{"a", "b", "c", "d"}, got) != "" {
			t.Errorf("received %v", got)
		}

		// What later batches can fix is accepted, and what no batch can fix is rejected.
		_, batch = start()
		batch(200, 1, false, "a")
		batch(400, 1000, false, "b")
		batch(400, 2, true)
		batch(200, 2, true, "b")
	})
}

func TestBatchesAtOnceKeepTheLimit(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		maps.Copy(env, limited(t))
		n := rig.Start(t, env)
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
	})
}
