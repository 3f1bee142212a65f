package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// mostAllocations is the maximum number of the server's allocations per progress report,
// including all that it causes: the request, the call of Redis, the event sent to a
// WebSocket. On a quiet machine it is 64 to 66, of which net/http makes 24, the Redis client 16, and the id of the
// request 2; on a busy one, up to 77 were measured. A report that is checked by its schema makes 40 more.
const mostAllocations = 90

func TestAReportOfProgressAllocatesLittle(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	const batches, reports = 60, 300
	n := rig.Start(t, vars{"REDIS_URL": rig.StartRedis(t).URL, "CALLBACK_RATE": "100000", "LOG_LEVEL": "WARN"})
	_, envelope := n.Manual(t, object{"userId": "u1"})
	heard := n.Listen(t, "userId=u1")
	client := &rawClient{t: t, url: n.URL + "/api/claude/progress"}
	defer client.close()
	allocations := func() float64 { return n.Metric(t, "go_memstats_mallocs_total") }
	least := math.Inf(1) // on a busy machine, what the server does at the same time adds to most batches
	for n := 0; n < batches && least > mostAllocations; n++ {
		before := allocations()
		reading := allocations() - before // what reading the metric allocates
		for i := range reports {
			body := must.Get(json.Marshal(rig.With(envelope, object{"message": fmt.Sprint("Reading page ", i), "progress": i % 100})))(t)
			client.post(body)
			heard.Next()
		}
		least = min(least, (allocations()-before-2*reading)/reports)
	}
	if least > mostAllocations {
		t.Errorf("a report of progress allocates %.0f times, at most %d are allowed", least, mostAllocations)
	}
}
