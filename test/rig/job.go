package rig

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
)

// Create creates a job and returns its requestId.
func (n *Node) Create(t testing.TB, job harness.Object) string {
	t.Helper()
	if job["kind"] == nil {
		job["kind"], job["input"] = "meal-suggestions", MealInput()
	}
	return n.Want(t, http.StatusAccepted, "POST", "/api/jobs", job)["requestId"].(string)
}

func MealInput() harness.Object {
	return harness.Object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-04"}
}

// Manual creates a job for which the test plays Claude, and returns the fields of its
// callbacks.
func (n *Node) Manual(t testing.TB, job harness.Object) (id string, envelope harness.Object) {
	t.Helper()
	job["options"] = harness.Object{"simulate": "manual"}
	id = n.Create(t, job)
	return id, n.Envelope(t, id)
}

// Envelope is what whoever plays Claude in a job sends with each callback.
func (n *Node) Envelope(t testing.TB, id string) harness.Object {
	t.Helper()
	n.Await(t, id, "running")
	var values harness.Object
	must.Eventually(t, "what to send", func() bool {
		status, answer := n.Do(t, "GET", "/api/jobs/"+id+"/callback", nil)
		values = answer
		return status == 200
	})
	return harness.Object{"requestId": id, "hmac": values["hmac"]}
}

// Renew waits for the job's next turn, and puts that turn's signature into an envelope.
func (n *Node) Renew(t testing.TB, envelope harness.Object) {
	t.Helper()
	maps.Copy(envelope, n.Envelope(t, envelope["requestId"].(string)))
}

// With adds fields to an envelope.
func With(envelope, fields harness.Object) harness.Object {
	all := maps.Clone(envelope)
	maps.Copy(all, fields)
	return all
}

func MealResult(dishes ...string) harness.Object {
	suggestions := []any{}
	for _, dish := range dishes {
		suggestions = append(suggestions, harness.Object{"date": "2026-03-02", "mealType": "dinner", "recipe": harness.Object{"name": dish, "source": "Own recipe"}})
	}
	return harness.Object{"suggestions": suggestions, "reasoning": "Because."}
}

// Await waits until a job is in a state and returns its record.
func (n *Node) Await(t testing.TB, id, state string) harness.Object {
	t.Helper()
	var record harness.Object
	deadline := time.Now().Add(must.Patience)
	for {
		record = n.Want(t, http.StatusOK, "GET", "/api/jobs/"+id, nil)
		if record["status"] == state {
			return record
		}
		if record["finishedAt"] != nil || time.Now().After(deadline) {
			t.Fatalf("job is %v, waited for %s: %v", record["status"], state, record)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// StoredEvents returns the stored events of a job except chat events.
func (n *Node) StoredEvents(t testing.TB, id, query string) []harness.Object {
	t.Helper()
	var found []harness.Object
	for _, e := range n.Want(t, http.StatusOK, "GET", "/api/jobs/"+id+"/events"+query, nil)["events"].([]any) {
		if event := e.(harness.Object); !strings.HasSuffix(event["event"].(string), ":message") {
			found = append(found, event)
		}
	}
	return found
}

// Details maps the paths of an error's details to their messages.
func Details(t testing.TB, answer harness.Object) map[string]string {
	t.Helper()
	found := map[string]string{}
	list, _ := answer["details"].([]any)
	for _, d := range list {
		found[d.(harness.Object)["path"].(string)] = d.(harness.Object)["message"].(string)
	}
	return found
}

func JSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Audit returns a job's audit log, one word for each entry.
func (n *Node) Audit(t testing.TB, id string) []string {
	t.Helper()
	var events []string
	for _, entry := range n.AuditEntries(t, id) {
		events = append(events, entry["event"].(string))
	}
	return events
}

// AuditLines returns a job's audit log, with the outcomes of runs and the reasons of
// refusals. Runs are numbered in the order of their first entry.
func (n *Node) AuditLines(t testing.TB, id string) []string {
	t.Helper()
	var lines []string
	runs := map[string]int{}
	for _, entry := range n.AuditEntries(t, id) {
		parts := []string{entry["event"].(string)}
		if run, ok := entry["run"].(string); ok {
			if runs[run] == 0 {
				runs[run] = len(runs) + 1
			}
			parts[0] += fmt.Sprint(" run ", runs[run])
		}
		for _, field := range []string{"outcome", "detail"} {
			if text, ok := entry[field].(string); ok {
				parts = append(parts, text)
			}
		}
		lines = append(lines, strings.Join(parts, ": "))
	}
	return lines
}

// AuditEntries returns the entries of a job's audit log.
func (n *Node) AuditEntries(t testing.TB, id string) []harness.Object {
	t.Helper()
	var entries []harness.Object
	for line := range strings.Lines(n.Text(t, "/api/jobs/"+id+"/audit")) {
		var entry harness.Object
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("the audit log holds %s", line)
		}
		if entry["time"] == nil || entry["requestId"] != id {
			t.Errorf("an entry without time or job: %v", entry)
		}
		entries = append(entries, entry)
	}
	return entries
}
