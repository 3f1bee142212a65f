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
		check(t, vars{"REDIS_URL": startRedis(t).restricted(t, store.Rights()...)})
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

func TestRefusedCallbacks(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, env vars) {
		n := startNode(t, env)
		id, envelope := n.manual(t, object{})
		for _, c := range []struct {
			name, path string
			body       any
			status     int
			message    string
			at         string // path of a detail
			says       string // part of its message or the hint
		}{
			{"no envelope", "suggestions", object{}, 400, "Invalid payload", "/requestId", "required"},
			{"hmac of the wrong type", "suggestions", object{"requestId": id, "hmac": 5}, 400, "Invalid payload", "/hmac", "string"},
			{"unknown request", "suggestions", object{"requestId": "unknown-123", "hmac": "any", "suggestions": []any{}, "reasoning": ""}, 404, "Unknown or expired request", "", "REQUEST_ID"},
			{"unknown request, progress", "progress", object{"requestId": "unknown-123", "message": "hello"}, 404, "Unknown request", "", ""},
			{"wrong signature before a wrong payload", "suggestions", object{"requestId": id, "hmac": "wrong-hmac", "suggestions": []any{}, "reasoning": ""}, 403, "Invalid signature", "", "HMAC_SIGNATURE"},
			{"wrong signature on progress", "progress", object{"requestId": id, "hmac": "wrong", "message": "hello"}, 403, "Invalid signature", "", ""},
			{"progress over 100", "progress", with(envelope, object{"message": "x", "progress": 101}), 400, "Invalid payload", "/progress", "at most 100"},
			{"progress of an unknown type", "progress", with(envelope, object{"message": "x", "type": "sleeping"}), 400, "Invalid payload", "/type", `"thinking", "querying", "results"`},
			{"field missing", "suggestions", with(envelope, object{"suggestions": []any{object{"mealType": "dinner", "recipe": object{"name": "x"}}}, "reasoning": "y"}), 400, "Invalid payload", "/suggestions/0/date", "required but missing; expected a string (format date"},
			{"value not allowed", "suggestions", with(envelope, object{"suggestions": []any{object{"date": "2026-03-02", "mealType": "brunch", "recipe": object{"name": "x"}}}, "reasoning": "y"}), 400, "Invalid payload", "/suggestions/0/mealType", `found the string "brunch"; allowed: "breakfast", "lunch", "dinner", "snack"`},
			{"unknown field", "suggestions", with(envelope, object{"suggestions": []any{object{"date": "2026-03-02", "mealType": "dinner", "recipe": object{"name": "x", "taste": "good"}}}, "reasoning": "y"}), 400, "Invalid payload", "/suggestions/0/recipe/taste", "not a known field; allowed: cookMinutes"},
			{"not a date", "suggestions", with(envelope, object{"suggestions": []any{object{"date": "tomorrow", "mealType": "dinner", "recipe": object{"name": "x"}}}, "reasoning": "y"}), 400, "Invalid payload", "/suggestions/0/date", "such as 2026-01-31"},
			{"not JSON", "suggestions", `{"requestId": "x",`, 400, "Malformed JSON", "", "ends too early"},
			{"twice the same key", "suggestions", `{"requestId": "x", "requestId": "y"}`, 400, "Malformed JSON", "/requestId", "twice"},
			{"not UTF-8", "suggestions", "{\"requestId\": \"\xff\"}", 400, "Malformed JSON", "", "UTF-8"},
			{"nested too deep", "suggestions", `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, 400, "Malformed JSON", "", "64 levels"},
			{"two values", "suggestions", `{} {}`, 400, "Malformed JSON", "", "after"},
			{"no object", "suggestions", `[]`, 400, "Malformed JSON", "", "an array"},
			{"empty", "suggestions", ``, 400, "Malformed JSON", "", "empty"},
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
		t.Run("wrong content type", func(t *testing.T) {
			status, answer := n.do(t, "POST", "/api/claude/progress", `{}`, "Content-Type", "text/plain")
			if status != http.StatusUnsupportedMediaType || !strings.Contains(answer["hint"].(string), "application/json") {
				t.Errorf("answered %d %v", status, answer)
			}
		})
		n.want(t, 200, "POST", "/api/claude/suggestions", with(envelope, mealResult("Soup")))
	})
}

func TestCallbacksThatComeTooFast(t *testing.T) {
	t.Parallel()
	n := startNode(t, vars{"CALLBACK_RATE": "5"})
	_, envelope := n.manual(t, object{})
	for i := range 20 {
		status, answer := n.do(t, "POST", "/api/claude/progress", with(envelope, object{"message": strconv.Itoa(i)}))
		if status == http.StatusOK {
			continue
		}
		if status != http.StatusTooManyRequests || i < 5 || !strings.Contains(answer["hint"].(string), "Wait") {
			t.Errorf("report %d was answered %d %v", i, status, answer)
		}
		return
	}
	t.Error("nothing was refused")
}

func TestResultIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, env vars) {
		n := startNode(t, env)
		id, envelope := n.manual(t, object{"userId": "u1"})
		first := n.want(t, 200, "POST", "/api/claude/suggestions", with(envelope, mealResult("Soup")))
		again := n.want(t, 200, "POST", "/api/claude/suggestions", with(envelope, mealResult("Soup")))
		must.Equal(t, first, again, "the repeated call was answered differently")
		n.want(t, 409, "POST", "/api/claude/suggestions", with(envelope, mealResult("Stew")))
		status, _ := n.do(t, "POST", "/api/claude/suggestions", object{"requestId": id, "hmac": "wrong", "suggestions": []any{}, "reasoning": ""})
		must.Equal(t, 403, status, "a wrong signature after the end was answered")
		events := n.storedEvents(t, id, "")
		must.Equal(t, 3, len(events), "events, want pending, running, received", events)
		must.Equal(t, "Soup", n.await(t, id, "received")["result"].(object)["suggestions"].([]any)[0].(object)["recipe"].(object)["name"], "the stored dish is not the first one")
	})
}

func TestResultInBatches(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, env vars) {
		n := startNode(t, env)
		id, envelope := n.manual(t, object{"userId": "u1"})
		events := n.listen(t, "userId=u1&since=0")
		batch := func(index int, final bool, dishes ...string) object {
			b := with(envelope, object{"batch": index, "final": final, "suggestions": mealResult(dishes...)["suggestions"]})
			if final {
				b["reasoning"] = "Because."
			}
			return b
		}
		const path = "/api/claude/suggestions/batch"
		first := batch(1, false, "Soup", "Stew")
		must.Equal(t, object{"success": true, "received": 2.0, "total": 2.0}, n.want(t, 200, "POST", path, first))
		must.Equal(t, object{"success": true, "received": 2.0, "total": 2.0}, n.want(t, 200, "POST", path, first), "repeated")
		n.want(t, 409, "POST", path, batch(1, false, "Pie"))
		missing := n.want(t, 400, "POST", path, batch(3, true, "Pie"))
		must.Contain(t, details(t, missing)["/batch"], "batch 2 has not arrived")
		wrong := n.want(t, 400, "POST", path, with(batch(2, false), object{"suggestions": []any{object{}}}))
		if _, ok := details(t, wrong)["/suggestions/0/recipe"]; !ok {
			t.Errorf("does not name the field: %v", wrong)
		}
		n.want(t, 200, "POST", path, batch(2, false, "Pie"))
		noReasoning := batch(3, true, "Cake")
		delete(noReasoning, "reasoning")
		n.want(t, 400, "POST", path, noReasoning)
		for range 2 { // the corrected one, and its repetition
			must.Equal(t, object{"success": true, "received": 1.0, "total": 4.0}, n.want(t, 200, "POST", path, batch(3, true, "Cake")))
		}
		n.want(t, 409, "POST", path, batch(3, true, "Tart"))

		var dishes []string
		for _, s := range n.await(t, id, "received")["result"].(object)["suggestions"].([]any) {
			dishes = append(dishes, s.(object)["recipe"].(object)["name"].(string))
		}
		must.Equal(t, []string{"Soup", "Stew", "Pie", "Cake"}, dishes)
		var totals []any
		for _, f := range events.until("recipes:suggestions:received") {
			if strings.HasSuffix(f["event"].(string), ":partial") {
				totals = append(totals, f["data"].(object)["total"])
			}
		}
		must.Equal(t, []any{2.0, 3.0, 4.0}, totals)
	})
}

func TestClaudeMayGiveUp(t *testing.T) {
	t.Parallel()
	n := startNode(t, vars{})
	id, envelope := n.manual(t, object{"userId": "u1"})
	events := n.listen(t, "userId=u1&since=0")
	n.want(t, 200, "POST", "/api/claude/failure", with(envelope, object{"error": "No recipes are known for these dates.", "errorCode": "no_recipes"}))
	record := n.await(t, id, "failed")
	if record["error"] != "No recipes are known for these dates." || record["errorCode"] != "no_recipes" {
		t.Errorf("the record says %v (%v)", record["error"], record["errorCode"])
	}
	frames := events.until("recipes:suggestions:error")
	want := object{"suggestionId": id, "error": "No recipes are known for these dates.", "errorCode": "no_recipes"}
	must.Equal[any](t, want, frames[len(frames)-1]["data"])
	status, answer := n.do(t, "POST", "/api/claude/suggestions", with(envelope, mealResult("Soup")))
	if status != 404 || !strings.Contains(answer["hint"].(string), "failed") {
		t.Errorf("a late result was answered %d %v", status, answer)
	}
}
