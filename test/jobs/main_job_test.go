package jobs

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

func TestSimulatedJobFromRequestToResult(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		n := rig.Start(t, env)
		events := n.Listen(t, "userId=u1")
		other := n.Listen(t, "userId=u2")
		answer := n.Want(t, http.StatusAccepted, "POST", "/api/suggestions?userId=u1", rig.MealInput())
		id := answer["requestId"].(string)
		must.Equal(t, object{"requestId": id, "status": "pending"}, answer)

		frames := events.Until("recipes:suggestions:received")
		want := []string{
			"recipes:suggestions:pending", "recipes:suggestions:running", "recipes:suggestions:activity",
			"recipes:suggestions:activity", "recipes:suggestions:activity", "recipes:suggestions:received",
		}
		must.Equal(t, want, rig.EventNames(frames))
		for i, f := range frames[1:] {
			if f["id"].(string) <= frames[i]["id"].(string) || f["requestId"] != id || f["userId"] != "u1" {
				t.Errorf("event out of order, or of another job: %v", f)
			}
		}
		must.Equal[any](t, id, frames[5]["data"].(object)["suggestionId"], "suggestionId is")

		record := n.Await(t, id, "received")
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
		if len(other.Frames) != 0 {
			t.Errorf("another user was told: %v", <-other.Frames)
		}
	})
}

func TestPlayingClaudeByHand(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		n := rig.Start(t, env)
		id, envelope := n.Manual(t, object{"userId": "u1"})
		events := n.Listen(t, "userId=u1&requestId="+id+"&since=0")

		progress := n.Want(t, 200, "POST", "/api/claude/progress", rig.With(envelope, object{"message": "Browsing", "progress": 0}))
		must.Equal(t, object{"success": true}, progress)
		n.Want(t, 200, "POST", "/progress", object{"requestId": id, "message": "no signature, no details"})
		result := n.Want(t, 200, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
		must.Equal(t, object{"success": true, "received": 1.0}, result)

		var activities []any
		for _, f := range events.Until("recipes:suggestions:received") {
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
	n := rig.Start(t, nil)
	id, envelope := n.Manual(t, object{})
	dinner := func(fields object) object {
		return rig.With(envelope, object{"suggestions": []any{rig.With(object{"date": "2026-03-02", "mealType": "dinner", "recipe": object{"name": "x"}}, fields)}, "reasoning": "y"})
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
		{"progress over 100", "progress", rig.With(envelope, object{"message": "x", "progress": 101}), 400, "Invalid payload", "/progress", "at most 100"},
		{"progress of an unknown type", "progress", rig.With(envelope, object{"message": "x", "type": "sleeping"}), 400, "Invalid payload", "/type", `"thinking", "querying", "results"`},
		{"field missing", "suggestions", rig.With(envelope, object{"suggestions": []any{object{"mealType": "dinner"}}}), 400, "Invalid payload", "/suggestions/0/date", "required but missing; expected a string (format date"},
		{"value not allowed", "suggestions", dinner(object{"mealType": "brunch"}), 400, "Invalid payload", "/suggestions/0/mealType", `found the string "brunch"; allowed: "breakfast", "lunch", "dinner", "snack"`},
		{"unknown field", "suggestions", dinner(object{"recipe": object{"name": "x", "taste": "good"}}), 400, "Invalid payload", "/suggestions/0/recipe/taste", "not a known field; allowed: cookMinutes"},
		{"not a date", "suggestions", dinner(object{"date": "tomorrow"}), 400, "Invalid payload", "/suggestions/0/date", "such as 2026-01-31"},
		{"not JSON", "suggestions", `{"requestId": "x",`, 400, "Malformed JSON", "", "ends too early"},
		{"not UTF-8", "suggestions", "{\"requestId\": \"\xff\"}", 400, "Malformed JSON", "", "UTF-8"},
		{"nested too deep", "suggestions", `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, 400, "Malformed JSON", "", "64 levels"},
		{"too large", "suggestions", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "Payload too large", "", "1048576"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, answer := n.Do(t, "POST", "/api/claude/"+c.path, c.body)
			if status != c.status || answer["error"] != c.message {
				t.Fatalf("answered %d %v, want %d %s", status, answer, c.status, c.message)
			}
			said, _ := answer["hint"].(string)
			if c.at != "" {
				said = rig.Details(t, answer)[c.at]
			}
			must.Contain(t, said, c.says, "at", c.at, "all", answer)
		})
	}
	n.Want(t, 200, "POST", "/api/claude/suggestions", dinner(nil))
}

func TestCallbacksThatComeTooFast(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"CALLBACK_RATE": "2"})
	_, envelope := n.Manual(t, object{})
	for i := range 20 {
		status, answer := n.Do(t, "POST", "/api/claude/progress", rig.With(envelope, object{"message": strconv.Itoa(i)}))
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
