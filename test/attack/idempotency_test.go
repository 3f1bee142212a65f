package attack

import (
	"fmt"
	"strings"
	"testing"

	"ringback/test/harness"
)

// A used idempotency key with another body is a 409 that explains this, for all ways to
// create jobs and to send key and body; nothing is created. The same body in another
// spelling is the same request.
func TestUsedKeysWithOtherBodies(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, nil, nil)
	meal := func(servings string) string {
		return `{"dateRangeStart":"2026-03-02","dateRangeEnd":"2026-03-04","servings":` + servings
	}
	for path, c := range map[string]struct {
		id, user    string
		first       string
		same, other []string
	}{
		"/api/jobs": {
			"requestId", "u1", `{"kind":"meal-suggestions","userId":"u1","input":` + meal("4") + `}}`,
			[]string{
				`{"userId":"u1","input":` + meal("4") + `},"kind":"meal-suggestions"}`,
				` { "kind" : "meal-suggestions", "userId": "u1", "input": { "servings": 4, "dateRangeEnd":"2026-03-04", "dateRangeStart":"2026-03-02" } } `,
				`{"kind":"meal-sug\u0067estions","userId":"u1","input":` + meal("4") + `}}`,
			},
			[]string{
				`{"kind":"meal-suggestions","userId":"u1","input":` + meal("5") + `}}`,
				`{"kind":"meal-suggestions","userId":"u1","input":` + meal(`4,"preferences":"none"`) + `}}`,
				`{"kind":"meal-suggestions","userId":"u1","sessionId":"s1","input":` + meal("4") + `}}`,
				`{"kind":"meal-suggestions","userId":"u1","input":` + meal("4") + `},"options":{"priority":"batch"}}`,
				`{"kind":"meal-suggestions","userId":"u1","input":` + meal("4") + `},"options":{"simulate":"failure"}}`,
				`{"kind":"ship","userId":"u1","input":{"prompt":"Ship it"}}`,
				`{"kind":"media","userId":"u1","input":{"prompt":"A lake"}}`,
			},
		},
		"/api/suggestions": {
			"requestId", "u2", `{"userId":"u2",` + meal("4")[1:] + `}`,
			[]string{meal("4") + `,"userId":"u2"}`, ` {"userId" : "u2", ` + meal("4")[1:] + "}\n"},
			[]string{
				`{"userId":"u2",` + meal("5")[1:] + `}`, `{"userId":"u2","sessionId":"s2",` + meal("4")[1:] + `}`, `{"userId":"u2",` + meal(`4,"preferences":"x"`)[1:] + `}`,
				`{"userId":"u2","dateRangeStart":"2026-03-02","dateRangeEnd":"2026-03-05","servings":4}`,
			},
		},
		"/hitl/runs": {
			"run_id", "u3", `{"prompt":"a lake","user_id":"u3","session_id":"s3"}`,
			[]string{`{"session_id":"s3","prompt":"a lake","user_id":"u3"}`, `{"prompt":"a l\u0061ke","user_id":"u3","session_id":"s3","agent_tool_config":{}}`},
			[]string{
				`{"prompt":"a sea","user_id":"u3","session_id":"s3"}`, `{"prompt":"a lake","user_id":"u3","session_id":"s4"}`, `{"prompt":"a lake ","user_id":"u3","session_id":"s3"}`,
				`{"prompt":"A lake","user_id":"u3","session_id":"s3"}`, `{"prompt":"a lake","user_id":"u3","session_id":"s3","agent_tool_config":{"kind":"ship"}}`,
			},
		},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			send := func(body string, header map[string]string) (int, harness.Object) {
				return harness.Send(t, s.URL, harness.Request{Method: "POST", Path: path, Body: body, Header: header})
			}
			key := map[string]string{"Idempotency-Key": "k"}
			status, made := send(c.first, key)
			if status != 202 {
				t.Fatalf("answered %d %v", status, made)
			}
			check := func(when string) {
				t.Helper()
				for _, body := range append(c.same, c.first) {
					if status, answer := send(body, key); status != 202 || answer[c.id] != made[c.id] {
						t.Errorf("%s, the same: %s was answered %d %v, want 202 and %v", when, body, status, answer, made[c.id])
					}
				}
				ways := []map[string]string{key, {"Idempotency-Key": `"k"`}}
				for _, body := range c.other {
					for _, way := range ways {
						status, answer := send(body, way)
						if status != 409 || !strings.Contains(fmt.Sprint(answer["error"]), "idempotency key was already used for another request") || !strings.Contains(fmt.Sprint(answer["hint"]), fmt.Sprint(made[c.id])) {
							t.Errorf("%s, another: %s was answered %d %v", when, body, status, answer)
						}
					}
					if path == "/hitl/runs" {
						continue // its body has no such field
					}
					inBody := `{"idempotencyKey":"k",` + strings.TrimSpace(body)[1:]
					if status, answer := send(inBody, nil); status != 409 {
						t.Errorf("%s, another, with the key in the body: %s was answered %d %v", when, inBody, status, answer)
					}
				}
			}
			check("while it runs")
			id := fmt.Sprint(made[c.id])
			if _, answer := harness.Send(t, s.URL, harness.Request{Method: "POST", Path: "/api/jobs/" + id + "/cancel"}); answer["requestId"] == nil && answer["error"] == nil {
				t.Errorf("cancelling was answered %v", answer)
			}
			check("after its end")
			jobs, _ := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs?fields=requestId&userId=" + c.user})["jobs"].([]any)
			if len(jobs) != 1 {
				t.Errorf("one key has made %d jobs", len(jobs))
			}
		})
	}
}
