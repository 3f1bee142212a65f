package jobs

import (
	"net/http"
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
		{"wrong signature", "suggestions", object{"requestId": id, "hmac": "wrong-hmac"}, 403, "Invalid signature", "", "HMAC_SIGNATURE"},
		{"value not allowed", "suggestions", dinner(object{"mealType": "brunch"}), 400, "Invalid payload", "/suggestions/0/mealType", `found the string "brunch"; allowed: "breakfast", "lunch", "dinner", "snack"`},
		{"not JSON", "suggestions", `{"requestId": "x",`, 400, "Malformed JSON", "", "ends too early"},
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
