package test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

func TestIdempotencyKeyInTheHeader(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, env vars) {
		n := startNode(t, env)
		body := object{"kind": "meal-suggestions", "input": mealInput(), "userId": "u1", "options": object{"simulate": "manual"}}
		other := with(body, object{"input": with(mealInput(), object{"servings": 3})})
		_, first := n.do(t, "POST", "/api/jobs", body, "Idempotency-Key", "k1")
		id := first["requestId"]
		for _, c := range []struct {
			name, path string
			body       object
			headers    []string
			status     int
			sameJob    bool
			says       string
		}{
			{"the header again", "/api/jobs", body, []string{"Idempotency-Key", "k1"}, 202, true, ""},
			{"as a structured field", "/api/jobs", body, []string{"Idempotency-Key", `"k1"`}, 202, true, ""},
			{"the field of the body", "/api/jobs", with(body, object{"idempotencyKey": "k1"}), nil, 202, true, ""},
			{"both, the same", "/api/jobs", with(body, object{"idempotencyKey": "k1"}), []string{"Idempotency-Key", "k1"}, 202, true, ""},
			{"both, different", "/api/jobs", with(body, object{"idempotencyKey": "k2"}), []string{"Idempotency-Key", "k1"}, 400, false, "/idempotencyKey"},
			{"another input", "/api/jobs", other, []string{"Idempotency-Key", "k1"}, 409, false, "another request"},
			{"another input, key in the body", "/api/jobs", with(other, object{"idempotencyKey": "k1"}), nil, 409, false, "another request"},
			{"another session", "/api/jobs", with(body, object{"sessionId": "s9"}), []string{"Idempotency-Key", "k1"}, 409, false, "another request"},
			{"other options", "/api/jobs", with(body, object{"options": object{"simulate": "manual", "priority": "batch"}}), []string{"Idempotency-Key", "k1"}, 409, false, "another request"},
			{"another kind", "/api/jobs", object{"kind": "ship", "userId": "u1", "input": object{"prompt": "Ship it"}}, []string{"Idempotency-Key", "k1"}, 409, false, "another request"},
			{"the other endpoint", "/api/suggestions", with(mealInput(), object{"userId": "u1"}), []string{"Idempotency-Key", "k1"}, 409, false, "another request"},
			{"another user", "/api/jobs", with(other, object{"userId": "u2"}), []string{"Idempotency-Key", "k1"}, 202, false, ""},
			{"another key", "/api/jobs", other, []string{"Idempotency-Key", "k3"}, 202, false, ""},
			{"an empty key", "/api/jobs", body, []string{"Idempotency-Key", ""}, 400, false, "Idempotency-Key"},
			{"an empty structured field", "/api/jobs", body, []string{"Idempotency-Key", `""`}, 400, false, "Idempotency-Key"},
			{"an open quote", "/api/jobs", body, []string{"Idempotency-Key", `"k1`}, 400, false, "Idempotency-Key"},
			{"too long a key", "/api/jobs", body, []string{"Idempotency-Key", strings.Repeat("k", 257)}, 400, false, "Idempotency-Key"},
		} {
			status, answer := n.do(t, "POST", c.path, c.body, c.headers...)
			if status != c.status || (answer["requestId"] == id) != c.sameJob {
				t.Errorf("%s: answered %d %v, want %d", c.name, status, answer, c.status)
			}
			if c.says != "" && !strings.Contains(strings.ToLower(flat(answer)), strings.ToLower(c.says)) {
				t.Errorf("%s: the answer does not say %q: %v", c.name, c.says, answer)
			}
		}
	})
}

func TestIdempotencyKeyWhereverJobsAreMade(t *testing.T) {
	t.Parallel()
	n := startNode(t, nil)
	for path, c := range map[string]struct {
		body, other object
		id          string
	}{
		"/api/suggestions": {with(mealInput(), object{"userId": "u1"}), with(mealInput(), object{"userId": "u1", "servings": 3}), "requestId"},
		"/hitl/runs":       {object{"prompt": "a lake", "session_id": "s1", "user_id": "u2"}, object{"prompt": "a sea", "session_id": "s1", "user_id": "u2"}, "run_id"},
	} {
		_, first := n.do(t, "POST", path, c.body, "Idempotency-Key", "k")
		_, again := n.do(t, "POST", path, c.body, "Idempotency-Key", "k")
		if first[c.id] == nil || first[c.id] != again[c.id] {
			t.Errorf("%s made %v and %v of one key", path, first, again)
		}
		if status, answer := n.do(t, "POST", path, c.other, "Idempotency-Key", "k"); status != http.StatusConflict {
			t.Errorf("%s: another body with the same key was answered %d: %v", path, status, answer)
		}
	}
}

func TestConcurrentRequestsWithOneKeyMakeOneJob(t *testing.T) {
	t.Parallel()
	n := startNode(t, nil)
	ids := make([]any, 20)
	var callers sync.WaitGroup
	for i := range ids {
		callers.Go(func() {
			_, answer := n.do(t, "POST", "/api/jobs", object{"kind": "meal-suggestions", "input": mealInput(), "userId": "u1"}, "Idempotency-Key", "k")
			ids[i] = answer["requestId"]
		})
	}
	callers.Wait()
	for _, id := range ids {
		if id == nil || id != ids[0] {
			t.Fatalf("one key made the jobs %v", ids)
		}
	}
}
