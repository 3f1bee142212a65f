package jobs

import (
	"net/http"
	"testing"

	"ringback/test/rig"
)

func TestIdempotencyKeyWhereverJobsAreMade(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	for path, c := range map[string]struct {
		body, other object
		id          string
	}{
		"/api/suggestions": {rig.With(rig.MealInput(), object{"userId": "u1"}), rig.With(rig.MealInput(), object{"userId": "u1", "servings": 3}), "requestId"},
		"/hitl/runs":       {object{"prompt": "a lake", "session_id": "s1", "user_id": "u2"}, object{"prompt": "a sea", "session_id": "s1", "user_id": "u2"}, "run_id"},
	} {
		_, first := n.Do(t, "POST", path, c.body, "Idempotency-Key", "k")
		_, again := n.Do(t, "POST", path, c.body, "Idempotency-Key", "k")
		if first[c.id] == nil || first[c.id] != again[c.id] {
			t.Errorf("%s made %v and %v of one key", path, first, again)
		}
		if status, answer := n.Do(t, "POST", path, c.other, "Idempotency-Key", "k"); status != http.StatusConflict {
			t.Errorf("%s: another body with the same key was answered %d: %v", path, status, answer)
		}
	}
}
