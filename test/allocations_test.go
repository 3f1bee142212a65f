package test

import (
	"encoding/json"
	"fmt"
	"testing"
)

// mostAllocations is the maximum number of the server's allocations per progress report,
// including all that it causes: the request, the call of Redis, the event sent to a
// WebSocket. The target is 60. About half of the remaining ones are made by net/http, echo
// and the Redis client.
const mostAllocations = 105

func TestAReportOfProgressAllocatesLittle(t *testing.T) {
	t.Parallel()
	const warm, reports = 200, 1000
	n := startNode(t, vars{"REDIS_URL": startRedis(t).url, "CALLBACK_RATE": "100000", "LOG_LEVEL": "WARN"})
	_, envelope := n.manual(t, object{"userId": "u1"})
	heard := n.listen(t, "userId=u1")
	client := &rawClient{t: t, url: n.url + "/api/claude/progress"}
	defer client.close()
	var before float64
	for i := range warm + reports {
		if i == warm {
			before = n.metric(t, "go_memstats_mallocs_total")
		}
		body, err := json.Marshal(with(envelope, object{"message": fmt.Sprint("Reading page ", i), "progress": i % 100}))
		if err != nil {
			t.Fatal(err)
		}
		client.post(body)
		heard.next()
	}
	if each := (n.metric(t, "go_memstats_mallocs_total") - before) / reports; each > mostAllocations {
		t.Errorf("a report of progress allocates %.0f times, at most %d are allowed", each, mostAllocations)
	} else {
		t.Logf("a report of progress allocates %.0f times", each)
	}
}
