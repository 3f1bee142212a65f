package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/web/api"
	"ringback/test/must"
)

// Each wrong field is named as in the request.
func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, api.Options{})
	const jobs = "/api/jobs"
	for name, row := range map[string]struct {
		method, path string
		body         any
		status       int
		// at is the path of a detail, and says a part of its message, or of the error's.
		at, says string
	}{
		"no kind":                     {"POST", jobs, object{"input": object{}}, 400, "/kind", "is required but missing"},
		"no kind among those":         {"POST", jobs, object{}, 400, "/kind", "meal-suggestions"},
		"an unknown kind":             {"POST", jobs, object{"kind": "riddle", "input": object{}}, 404, "", "riddle"},
		"the kind of our own":         {"POST", jobs, object{"kind": "reading", "input": object{}}, 404, "", "reading"},
		"an input that is no object":  {"POST", jobs, object{"kind": "note", "input": "x"}, 400, "/input", "expected an object"},
		"an input of another schema":  {"POST", jobs, object{"kind": "note", "input": object{"title": 5}}, 400, "/input/title", "string"},
		"a field that is none":        {"POST", jobs, object{"kind": "note", "inputs": object{}}, 400, "/inputs", "not a known field"},
		"an option that is none":      {"POST", jobs, object{"kind": "note", "options": object{"speed": 1}}, 400, "/options/speed", "not a known field"},
		"a priority that is none":     {"POST", jobs, object{"kind": "note", "options": object{"priority": "high"}}, 400, "/options/priority", "interactive"},
		"a stand-in that is none":     {"POST", jobs, object{"kind": "note", "options": object{"simulate": "x"}}, 400, "/options/simulate", "manual"},
		"a user of two lines":         {"POST", jobs, object{"kind": "note", "userId": "a\nb"}, 400, "/userId", "control"},
		"no WebSocket":                {"GET", "/ws", nil, 400, "", ""},
		"a session with a slash":      {"POST", jobs, object{"kind": "note", "sessionId": "a/b"}, 400, "/sessionId", "none of /"},
		"a user that cannot be seen":  {"POST", jobs, object{"kind": "note", "userId": " "}, 400, "/userId", "visible"},
		"a tag that is none":          {"POST", jobs, object{"kind": "note", "tags": []string{"a", "b c"}}, 400, "/tags/1", "A-Z a-z 0-9"},
		"too many tags":               {"POST", jobs, object{"kind": "note", "tags": strings.Split("a b c d e f g h i j k", " ")}, 400, "/tags", "at most 10"},
		"tags that are no list":       {"POST", "/api/suggestions", object{"tags": "a"}, 400, "/tags", "found a string"},
		"an action that is none":      {"POST", jobs + "/bulk", object{"action": "approve", "requestIds": []string{"req_1"}}, 400, "/action", "cancel"},
		"an action on no job":         {"POST", jobs + "/bulk", object{"action": "cancel", "requestIds": []string{}}, 400, "/requestIds", "1 to 200"},
		"an action on too many jobs":  {"POST", jobs + "/bulk", object{"action": "cancel", "requestIds": slices.Repeat([]string{"req_1"}, 201)}, 400, "/requestIds", "1 to 200"},
		"a tag to list by":            {"GET", jobs + "?tag=b%20c", nil, 400, "/tag", "A-Z a-z 0-9"},
		"a misspelt status":           {"GET", jobs + "?status=pending,recieved", nil, 400, "/status", "did you mean received? allowed: pending, "},
		"a status after a comma":      {"GET", jobs + "?status=pending&status=failed,", nil, 400, "/status", `found ""; allowed: pending, `},
		"a text too long":             {"GET", jobs + "?q=" + strings.Repeat("x", 201), nil, 400, "/q", "200"},
		"an end that is none":         {"GET", jobs + "?createdUntil=2026-03-02", nil, 400, "/createdUntil", "2026-"},
		"no body":                     {"POST", jobs, nil, 415, "", "content type"},
		"suggestions, in their words": {"POST", "/api/suggestions", object{"dateRangeStart": 5, "dateRangeEnd": "2026-03-02"}, 400, "/dateRangeStart", "string"},
		"a range turned around":       {"POST", "/api/suggestions", object{"dateRangeStart": "2026-03-06", "dateRangeEnd": "2026-03-02"}, 400, "/dateRangeEnd", "is before dateRangeStart"},
		"a misspelt field":            {"POST", jobs, object{"kind": "note", "sesionId": "s1"}, 400, "/sesionId", "did you mean sessionId?"},
		"a misspelt field of replies": {"POST", "/to-llm", object{"sessionId": "s1", "contents": "x"}, 400, "/contents", "did you mean content?"},
		"a user of suggestions":       {"POST", "/api/suggestions", object{"userId": 5}, 400, "/userId", "string"},
		"a run without words":         {"POST", "/hitl/runs", object{"prompt": " "}, 400, "/prompt", "missing"},
		"a run in its own words":      {"POST", "/hitl/runs", object{"prompt": "x", "session_id": "a/b"}, 400, "/session_id", "none of /"},
		"a run's kind":                {"POST", "/hitl/runs", object{"prompt": "x", "agent_tool_config": object{"kind": 5}}, 400, "/agent_tool_config/kind", "string"},
		"a run's input":               {"POST", "/hitl/runs", object{"prompt": "x", "agent_tool_config": object{"kind": "note", "size": 5}}, 400, "/agent_tool_config/size", ""},
		"a status that is none":       {"GET", jobs + "?status=done", nil, 400, "/status", "received"},
		"a kind to list by":           {"GET", jobs + "?kind=riddle", nil, 400, "/kind", "note"},
		"a page too long":             {"GET", jobs + "?limit=501", nil, 400, "/limit", "500"},
		"a page of nothing":           {"GET", jobs + "?limit=0", nil, 400, "/limit", "1"},
		"a time that is none":         {"GET", jobs + "?createdSince=yesterday", nil, 400, "/createdSince", "2026-"},
		"too little of an id":         {"GET", jobs + "?idPrefix=req_ab", nil, 400, "/idPrefix", "6"},
		"a cursor that is none":       {"GET", jobs + "?cursor=x", nil, 400, "", ""},
		"fields that are none":        {"GET", jobs + "?fields=status,colour", nil, 400, "/fields", "requestId"},
		"a field in capitals":         {"GET", jobs + "?fields=Result", nil, 400, "/fields", "allowed: "},
		"a field of no record":        {"GET", jobs + "?fields=Node", nil, 400, "/fields", "allowed: "},
		"fields without a name":       {"GET", jobs + "?fields=,", nil, 400, "/fields", "allowed: "},
		"no field to leave out":       {"GET", jobs + "?fields=-", nil, 400, "/fields", "allowed: "},
		"a checkpoint's status":       {"GET", "/api/checkpoints?status=done", nil, 400, "/status", "allowed: "},
		"a checkpoint's type":         {"GET", "/api/checkpoints?type=riddle", nil, 400, "/type", "allowed: "},
		"fields in and out":           {"GET", jobs + "?fields=status,-result", nil, 400, "/fields", "all begin with -"},
		"a job that is none":          {"GET", jobs + "/req_1", nil, 404, "", ""},
		"a checkpoint that is none":   {"GET", "/api/checkpoints/chk_1", nil, 404, "", "chk_1"},
		"a session that is none":      {"GET", "/api/sessions/s9/messages", nil, 404, "", "s9"},
		"a message that is none":      {"GET", "/api/sessions/s9/messages?userId=u1&after=x", nil, 400, "/after", "id of a message"},
		"nothing said":                {"POST", "/to-llm", object{"sessionId": "s1", "content": " "}, 400, "/content", "1 to"},
		"said by somebody else":       {"POST", "/to-llm", object{"sessionId": "s1", "content": "x", "sender": "assistant"}, 400, "/sender", "user"},
		"a method that is none":       {"DELETE", jobs, nil, 405, "", ""},
		"a path that is none":         {"GET", "/api/riddles", nil, 404, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.as("", row.method, row.path, row.body)
			if a.Status != row.status {
				t.Fatalf("answered %d %v, want %d", a.Status, a.Body, row.status)
			}
			said := strings.ToLower(a.text("error") + " " + a.details()[row.at])
			if _, named := a.details()[row.at]; row.at != "" && !named || !strings.Contains(said, strings.ToLower(row.says)) {
				t.Errorf("answered %v, want %s at %s", a.Body, row.says, row.at)
			}
		})
	}
}

// The key is in a header or in the body, and is its user's.
func TestTheSameRequestAgain(t *testing.T) {
	t.Parallel()
	key := func(text string) []string { return []string{"Idempotency-Key", text} }
	note := func(fields object) object {
		all := object{"kind": "note", "userId": "u1", "input": object{"title": "a"}}
		maps.Copy(all, fields)
		return all
	}
	const jobs, used = "/api/jobs", "another request"
	for name, row := range map[string]struct {
		path    string
		body    object
		headers []string
		status  int
		same    bool
		says    string
	}{
		"is the same job":                        {jobs, note(nil), key("k1"), 202, true, ""},
		"by the field is the same job":           {jobs, note(object{"idempotencyKey": "k1"}), nil, 202, true, ""},
		"by both is the same job":                {jobs, note(object{"idempotencyKey": "k1"}), key("k1"), 202, true, ""},
		"in quotes is the same job":              {jobs, note(nil), key(`"k1"`), 202, true, ""},
		"with another key is another job":        {jobs, note(nil), key("k2"), 202, false, ""},
		"without a key is another job":           {jobs, note(nil), nil, 202, false, ""},
		"of another user is another job":         {jobs, note(object{"userId": "u2", "input": object{"title": "b"}}), key("k1"), 202, false, ""},
		"with another input is refused":          {jobs, note(object{"input": object{"title": "b"}}), key("k1"), 409, false, used},
		"with another input by the field":        {jobs, note(object{"input": object{"title": "b"}, "idempotencyKey": "k1"}), nil, 409, false, used},
		"of another session is refused":          {jobs, note(object{"sessionId": "s9"}), key("k1"), 409, false, used},
		"with other options is refused":          {jobs, note(object{"options": object{"priority": "batch"}}), key("k1"), 409, false, used},
		"of another kind is refused":             {jobs, note(object{"kind": "careful", "input": object{"prompt": "x"}}), key("k1"), 409, false, used},
		"at another endpoint is refused":         {"/api/suggestions", object{"userId": "u1", "dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-04"}, key("k1"), 409, false, used},
		"with two keys is refused":               {jobs, note(object{"idempotencyKey": "k2"}), key("k1"), 400, false, "/idempotencyKey"},
		"with an empty key is refused":           {jobs, note(nil), key(""), 400, false, "Idempotency-Key"},
		"with an empty key in quotes is refused": {jobs, note(nil), key(`""`), 400, false, "Idempotency-Key"},
		"with escapes in quotes is its own text": {
			jobs, note(object{"idempotencyKey": `k\"`}), key(`"k\\\""`), 202, false, "",
		},
		"with another escape is refused":         {jobs, note(nil), key(`"k\1"`), 400, false, "Idempotency-Key"},
		"with a key that has no end is refused":  {jobs, note(nil), key(`"k1`), 400, false, "Idempotency-Key"},
		"with a key that is too long is refused": {jobs, note(nil), key(strings.Repeat("k", 257)), 400, false, "Idempotency-Key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, api.Options{})
			one := s.as("", "POST", jobs, note(nil), key("k1")...)
			again := s.as("", "POST", row.path, row.body, row.headers...)
			if again.Status != row.status {
				t.Fatalf("answered %d %v, want %d", again.Status, again.Body, row.status)
			}
			must.Equal(t, row.same, one.text("requestId") == again.text("requestId"), "the same job")
			must.Contain(t, string(must.Get(json.Marshal(again.Body))(t)), row.says)
		})
	}
}

func TestWhichFieldsAListShows(t *testing.T) {
	t.Parallel()
	s := startServer(t, api.Options{})
	id := s.create("", "note", "u1")
	all := s.as("", "GET", "/api/jobs/"+string(id), nil).Body
	for fields, want := range map[string]func(name string) bool{
		"":                  func(string) bool { return true },
		"requestId,status":  func(name string) bool { return name == "requestId" || name == "status" },
		"-input,-createdAt": func(name string) bool { return name != "input" && name != "createdAt" },
		" requestId , kind": func(name string) bool { return name == "requestId" || name == "kind" },
		"requestId,error":   func(name string) bool { return name == "requestId" }, // it has not failed
	} {
		jobs, _ := s.as("", "GET", "/api/jobs?fields="+url.QueryEscape(fields), nil).Body["jobs"].([]any)
		if len(jobs) != 1 {
			t.Fatalf("%s: there are %d jobs", fields, len(jobs))
		}
		shown, _ := jobs[0].(object)
		for name := range all {
			_, is := shown[name]
			must.Equal(t, want(name), is, fields, "shows", name)
		}
	}
}

// A job has a title and tags, and can be found by them.
func TestJobsAreFoundByTitleAndTags(t *testing.T) {
	t.Parallel()
	s := startServer(t, api.Options{})
	made := s.as("", "POST", "/api/suggestions", object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-06", "tags": []string{"nightly", "team:food", "nightly"}})
	s.as("", "POST", "/api/jobs", object{"kind": "note", "tags": []string{"nightly"}})
	for query, want := range map[string]int{
		"tag=nightly": 2, "tag=team:food": 1, "tag=other": 0, "q=03-06+MEALS": 1, "q=nightly&kind=note": 1, "q=" + made.text("requestId"): 1,
		"createdUntil=2026-01-01T00:00:00Z": 0, "tag=nightly&createdSince=2026-01-01T00:00:00Z&status=pending": 2, "tag=nightly&status=failed": 0,
		"status=": 2, "status=failed,pending": 2, "status=failed&status=pending": 2, "status=failed,expired": 0, "status=pending,+pending": 2,
		"status=pending,failed&kind=note": 1, "limit=2&status=pending,running,awaiting_approval,awaiting_input,received,cancelled,rejected,expired,failed": 2,
	} {
		page := s.as("", "GET", "/api/jobs?"+query, nil).Body
		if jobs, _ := page["jobs"].([]any); len(jobs) != want || page["nextCursor"] != nil {
			t.Errorf("%s: answered %v, want %d jobs", query, page, want)
		}
	}
	j := s.as("", "GET", "/api/jobs/"+made.text("requestId"), nil).Body
	if j["title"] != "Meals from 2026-03-02 to 2026-03-06" || fmt.Sprint(j["tags"]) != "[nightly team:food]" {
		t.Errorf("the job is %v", j)
	}
}

// Each job in a bulk request follows its own rules, and its owner is checked.
func TestTheSameIsDoneToManyJobs(t *testing.T) {
	t.Parallel()
	s := startServer(t, locked)
	mine, also, theirs := s.create(apiKey, "note", "u1"), s.create(apiKey, "note", "u1"), s.create(apiKey, "note", "u2")
	do := func(credential, action string, ids ...job.ID) (succeeded int, faults []string) {
		t.Helper()
		a := s.as(credential, "POST", "/api/jobs/bulk", object{"action": action, "requestIds": ids})
		jobs, _ := a.Body["jobs"].([]any)
		if a.Status != 200 || len(jobs) != len(ids) {
			t.Fatalf("answered %d %v", a.Status, a.Body)
		}
		for i, outcome := range jobs {
			outcome, _ := outcome.(object)
			must.Equal[any](t, string(ids[i]), outcome["requestId"], "outcome", i, "is of")
			fault, _ := outcome["error"].(string)
			faults = append(faults, fault)
		}
		n, _ := a.Body["succeeded"].(float64)
		return int(n), faults
	}
	if n, faults := do(tokenOf(t, "u1"), "cancel", mine, theirs, "req_1"); n != 1 || faults[0] != "" || !strings.Contains(faults[1], "No job has the requestId") || !strings.Contains(faults[2], "No job") {
		t.Errorf("cancelling: %d, %q", n, faults)
	}
	if n, faults := do(apiKey, "cancel", mine, also); n != 1 || faults[0] == "" || faults[1] != "" {
		t.Errorf("cancelling again: %d, %q", n, faults)
	}
	if n, faults := do(apiKey, "retry", mine, also, theirs); n != 2 || faults[2] == "" {
		t.Errorf("retrying: %d, %q", n, faults)
	}
	for id, want := range map[job.ID]string{mine: "pending", theirs: "pending"} {
		must.Equal(t, want, s.as(apiKey, "GET", "/api/jobs/"+string(id), nil).text("status"), id)
	}
}

func TestAnswersSayWhereToLook(t *testing.T) {
	t.Parallel()
	s := startServer(t, api.Options{})
	for path, body := range map[string]object{
		"/api/jobs/":  {"kind": "note", "input": object{}},
		"/hitl/runs/": {"prompt": "x", "agent_tool_config": object{"aspect_ratio": "16:9"}},
	} {
		a := s.as("", "POST", strings.TrimSuffix(path, "/"), body)
		at := a.Header.Get("Location")
		if a.Status != http.StatusAccepted || !strings.HasPrefix(at, path) {
			t.Fatalf("%s was answered %d %v, to be seen at %q", path, a.Status, a.Body, at)
		}
		s.wants(http.StatusOK, "", "GET", at, nil)
	}
	kinds, _ := s.as("", "GET", "/api/kinds", nil).Body["kinds"].([]any)
	if slices.ContainsFunc(kinds, func(k any) bool { k2, _ := k.(object); return k2["name"] == "reading" }) {
		t.Error("the kind of our own is listed")
	}
}

// The start of a turn makes the signature before it void, so a job that waits for one shows none.
func TestATurnThatHasNotBegunHasNoCallbackValues(t *testing.T) {
	t.Parallel()
	s := startServer(t, api.Options{})
	created := s.as("", "POST", "/api/jobs", object{"kind": "note", "input": object{}, "options": object{"simulate": "manual"}})
	refused := s.as("", "GET", "/api/jobs/"+created.text("requestId")+"/callback", nil)
	if refused.Status != http.StatusConflict || !strings.Contains(refused.text("error"), "has not begun: the job is pending") {
		t.Errorf("answered %d %v", refused.Status, refused.Body)
	}
}
