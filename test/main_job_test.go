package test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"ringback/internal/store"
	"ringback/test/must"
)

// onEachStore runs a test with a real Redis (as a user with only the documented rights),
// the embedded one and the one in process.
func onEachStore(t *testing.T, check func(t *testing.T, env vars)) {
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		check(t, vars{"REDIS_URL": startRedis(t).Restricted(t, store.Rights()...)})
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		check(t, vars{})
	})
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		check(t, vars{"PATH": pathWithout(t, "redis-server", "valkey-server")})
	})
}

func TestSimulatedJobFromRequestToResult(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, env vars) {
		n := startNode(t, env)
		events := n.listen(t, "userId=u1")
		other := n.listen(t, "userId=u2")
		answer := n.want(t, http.StatusAccepted, "POST", "/api/suggestions?userId=u1", mealInput())
		id := answer["requestId"].(string)
		must.Equal(t, object{"requestId": id, "status": "pending"}, answer)

		frames := events.until("recipes:suggestions:received")
		want := []string{
			"recipes:suggestions:pending", "recipes:suggestions:running", "recipes:suggestions:activity",
			"recipes:suggestions:activity", "recipes:suggestions:activity", "recipes:suggestions:received",
		}
		must.Equal(t, want, names(frames))
		for i, f := range frames[1:] {
			if f["id"].(string) <= frames[i]["id"].(string) || f["requestId"] != id || f["userId"] != "u1" {
				t.Errorf("event out of order, or of another job: %v", f)
			}
		}
		must.Equal[any](t, id, frames[5]["data"].(object)["suggestionId"], "suggestionId is")

		record := n.await(t, id, "received")
		list := record["result"].(object)["suggestions"].([]any)
		if len(list) != 3 {
			t.Fatalf("%d suggestions, want one a day", len(list))
		}
		first := list[0].(object)
		for _, field := range []string{"accepted", "servingsOverride", "notes"} {
			if value, present := first[field]; !present || value != nil {
				t.Errorf("%s is %v, want null", field, value)
			}
		}
		if len(other.frames) != 0 {
			t.Errorf("another user was told: %v", <-other.frames)
		}
	})
}

func TestPlayingClaudeByHand(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, env vars) {
		n := startNode(t, env)
		id, envelope := n.manual(t, object{"userId": "u1"})
		events := n.listen(t, "userId=u1&requestId="+id+"&since=0")

		progress := n.want(t, 200, "POST", "/api/claude/progress", with(envelope, object{"message": "Browsing", "progress": 0}))
		must.Equal(t, object{"success": true}, progress)
		n.want(t, 200, "POST", "/progress", object{"requestId": id, "message": "no signature, no details"})
		result := n.want(t, 200, "POST", "/api/claude/suggestions", with(envelope, mealResult("Soup")))
		must.Equal(t, object{"success": true, "received": 1.0}, result)

		var activities []any
		for _, f := range events.until("recipes:suggestions:received") {
			if strings.HasSuffix(f["event"].(string), ":activity") {
				activities = append(activities, f["data"])
			}
		}
		want := []any{
			object{"message": "Browsing", "type": "querying", "progress": 0.0},
			object{"message": "no signature, no details", "type": "querying", "progress": 50.0},
		}
		must.Equal(t, want, activities)
	})
}

// internal/web/callback has every refusal; these are of the shipped kind, and of the whole way to it.
func TestRefusedCallbacks(t *testing.T) {
	t.Parallel()
	n := startNode(t, nil)
	id, envelope := n.manual(t, object{})
	dinner := func(fields object) object {
		return with(envelope, object{"suggestions": []any{with(object{"date": "2026-03-02", "mealType": "dinner", "recipe": object{"name": "x"}}, fields)}, "reasoning": "y"})
	}
	for _, c := range []struct {
		name, path string
		body       any
		status     int
		message    string
		at         string // path of a detail
		says       string // part of its message or the hint
	}{
		{"unknown request", "suggestions", object{"requestId": "unknown-123", "hmac": "any"}, 404, "Unknown or expired request", "", "REQUEST_ID"},
		{"unknown request, progress", "progress", object{"requestId": "unknown-123", "message": "hello"}, 404, "Unknown request", "", ""},
		{"wrong signature", "suggestions", object{"requestId": id, "hmac": "wrong-hmac"}, 403, "Invalid signature", "", "HMAC_SIGNATURE"},
		{"progress over 100", "progress", with(envelope, object{"message": "x", "progress": 101}), 400, "Invalid payload", "/progress", "at most 100"},
		{"progress of an unknown type", "progress", with(envelope, object{"message": "x", "type": "sleeping"}), 400, "Invalid payload", "/type", `"thinking", "querying", "results"`},
		{"field missing", "suggestions", with(envelope, object{"suggestions": []any{object{"mealType": "dinner"}}}), 400, "Invalid payload", "/suggestions/0/date", "required but missing; expected a string (format date"},
		{"value not allowed", "suggestions", dinner(object{"mealType": "brunch"}), 400, "Invalid payload", "/suggestions/0/mealType", `found the string "brunch"; allowed: "breakfast", "lunch", "dinner", "snack"`},
		{"unknown field", "suggestions", dinner(object{"recipe": object{"name": "x", "taste": "good"}}), 400, "Invalid payload", "/suggestions/0/recipe/taste", "not a known field; allowed: cookMinutes"},
		{"not a date", "suggestions", dinner(object{"date": "tomorrow"}), 400, "Invalid payload", "/suggestions/0/date", "such as 2026-01-31"},
		{"not JSON", "suggestions", `{"requestId": "x",`, 400, "Malformed JSON", "", "ends too early"},
		{"not UTF-8", "suggestions", "{\"requestId\": \"\xff\"}", 400, "Malformed JSON", "", "UTF-8"},
		{"nested too deep", "suggestions", `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, 400, "Malformed JSON", "", "64 levels"},
		{"too large", "suggestions", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "Payload too large", "", "1048576"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, answer := n.do(t, "POST", "/api/claude/"+c.path, c.body)
			if status != c.status || answer["error"] != c.message {
				t.Fatalf("answered %d %v, want %d %s", status, answer, c.status, c.message)
			}
			said, _ := answer["hint"].(string)
			if c.at != "" {
				said = details(t, answer)[c.at]
			}
			must.Contain(t, said, c.says, "at", c.at, "all", answer)
		})
	}
	n.want(t, 200, "POST", "/api/claude/suggestions", dinner(nil))
}

func TestCallbacksThatComeTooFast(t *testing.T) {
	t.Parallel()
	n := startNode(t, vars{"CALLBACK_RATE": "2"})
	_, envelope := n.manual(t, object{})
	for i := range 20 {
		status, answer := n.do(t, "POST", "/api/claude/progress", with(envelope, object{"message": strconv.Itoa(i)}))
		if status == http.StatusOK {
			continue
		}
		if status != http.StatusTooManyRequests || i < 2 || !strings.Contains(answer["hint"].(string), "Wait") {
			t.Errorf("report %d was answered %d %v", i, status, answer)
		}
		return
	}
	t.Error("nothing was refused")
}
