package test

import (
	"net/http"
	"sync"
	"testing"
)

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
