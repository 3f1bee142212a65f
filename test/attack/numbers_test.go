package attack

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// A job gets the input that was sent: each number with all of its digits, or the job is
// rejected.
func TestInputsKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	kinds := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(kinds, "gated.md"), []byte(deployKind), 0o600))
	s := harness.Start(t, harness.Vars{"PROMPTS_DIR": kinds, "HOLD": "0s"}, nil)
	ask := func(number string) (int, harness.Object) {
		body := `{"kind":"gated","userId":"u1","options":{"simulate":"manual"},"input":{"to":{"accounts":[` + number + `]}}}`
		return harness.Send(t, s.URL, harness.Request{Method: "POST", Path: "/api/jobs", Body: body})
	}
	for _, number := range []string{
		"1234567890123456789", "-1234567890123456789", "9007199254740993", "18446744073709551617", "123456789012345678901234567890",
		"0.1000000000000000055511151231257827", "0.30000000000000000001", "1.0", "1.10", "1e2", "1E+2", "-0", "-0.0", "1e-300", "1234567890123456789e3",
	} {
		status, answer := ask(number)
		if status != http.StatusAccepted {
			t.Errorf("%s was answered %d %v", number, status, answer)
			continue
		}
		id, _ := answer["requestId"].(string)
		if record := harness.Text(t, s.URL+"/api/jobs/"+id); !strings.Contains(record, `"accounts":[`+number+`]`) {
			t.Errorf("%s has become: %s", number, record)
		}
	}
	for _, number := range []string{"1e400", "-1e400", "5e-324", "1e99999999999999999999", strings.Repeat("9", 400), "NaN", "Infinity", "0x10", "01", "+1", ".5", "1."} {
		if status, answer := ask(number); status != http.StatusBadRequest {
			t.Errorf("%s was answered %d %v", number, status, answer)
		}
	}
}

// exactNumbers are numbers that programs tend to change: those that a 64-bit float rounds,
// and those written differently than programs would.
var exactNumbers = `[9007199254740993,-9007199254740993,1234567890123456789,18446744073709551617,123456789012345678901234567890,` +
	`0.1000000000000000055511151231257827,0.30000000000000000001,1.0,1,1.10,1e2,1E+2,-0,-0.0,1e-300]`

// exactKind shows its input in its prompt, and has an action that returns its input.
const exactKind = `---
actions:
  - name: echo
    input: {type: object}
    confirm: never
    command: [cat]
  - name: hook
    input: {type: object}
    confirm: never
    webhook: RECEIVER/hook
---
These: {{input.list}}`

// exactServer stores the prompts of its Claude in a file, and the bodies of its webhook in
// another.
func exactServer(t *testing.T) (s *harness.Server, prompt string, hooked func() string) {
	t.Helper()
	dir := t.TempDir()
	prompt = filepath.Join(dir, "prompt")
	var mu sync.Mutex
	var got strings.Builder
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/hook" { // an action's webhook responds with its result
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		got.Write(body)
	}))
	t.Cleanup(receiver.Close)
	for name, text := range map[string]string{
		"exact.md": strings.ReplaceAll(exactKind, "RECEIVER", receiver.URL), "exact.result.json": `{"type":"object","properties":{"list":{"type":"array"},"suggestions":{"type":"array","items":{"type":["array","number"]}}}}`,
		"claude": "#!/bin/sh\n" + harness.AnswersVersion + harness.AnswersTrial + "cat > " + prompt + "\nexit 1\n",
	} {
		harness.WriteProgram(t, filepath.Join(dir, name), []byte(text))
	}
	s = harness.Start(t, harness.Vars{
		"PROMPTS_DIR": dir, "SCHEMAS_DIR": dir, "HOLD": "0s", "CLAUDE_BIN": filepath.Join(dir, "claude"), "SANDBOX": "off",
		"WEBHOOK_URL": receiver.URL, "WEBHOOK_SECRET": "whsec_" + base64.StdEncoding.EncodeToString([]byte("the secret of a receiver")),
	}, nil)
	return s, prompt, func() string {
		mu.Lock()
		defer mu.Unlock()
		return got.String()
	}
}

// send posts a body and returns the exact response.
func send(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp := harness.Exchange(t, url, harness.Request{Method: http.MethodPost, Body: body})
	return resp.Status, resp.Text
}

// Through every entry, a number keeps all of its digits.
func TestNumbersAtEveryDoor(t *testing.T) {
	t.Parallel()
	s, prompt, hooked := exactServer(t)
	holds := func(door, text string) {
		t.Helper()
		if !strings.Contains(text, exactNumbers) {
			t.Errorf("%s: %s", door, text)
		}
	}
	_, answer := send(t, s.URL+"/hitl/runs", `{"prompt":"x","user_id":"u1","agent_tool_config":{"kind":"exact","list":`+exactNumbers+`}}`)
	var run struct {
		ID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(answer), &run); err != nil || run.ID == "" {
		t.Fatal(answer)
	}
	holds("the input of /hitl/runs", harness.Text(t, s.URL+"/api/jobs/"+run.ID))
	var shown []byte
	harness.Eventually(t, "the prompt", func() bool { shown, _ = os.ReadFile(prompt); return len(shown) > 0 })
	holds("the prompt", string(shown))
	for _, path := range []string{"/to-llm", "/from-llm"} {
		session := strings.Trim(path, "/")
		status, answer := send(t, s.URL+path, `{"userId":"u1","sessionId":"`+session+`","content":"x","props":{"list":`+exactNumbers+`}}`)
		if status != http.StatusOK {
			t.Errorf("%s answered %d %s", path, status, answer)
		}
		holds("the props of "+path, harness.Text(t, s.URL+"/api/sessions/"+session+"/messages?userId=u1"))
	}
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "exact", "userId": "u1", "input": harness.Object{}})
	signed := `{"requestId":"` + id + `","hmac":"` + envelope["hmac"].(string) + `",`
	_, answer = send(t, s.URL+"/api/claude/actions/echo", signed+`"input":{"list":`+exactNumbers+`}}`)
	holds("an action's input and result", answer)
	_, answer = send(t, s.URL+"/api/claude/actions/hook", signed+`"input":{"list":`+exactNumbers+`}}`)
	holds("what an action's webhook gets and answers", answer)
	if status, answer := send(t, s.URL+"/api/claude/suggestions/batch", signed+`"batch":1.0,"suggestions":[`+exactNumbers+`]}`); status != http.StatusOK {
		t.Errorf("a batch was answered %d %s", status, answer)
	}
	if status, answer := send(t, s.URL+"/api/claude/suggestions/batch", signed+`"batch":20e-1,"final":true,"suggestions":[],"list":`+exactNumbers+`}`); status != http.StatusOK {
		t.Errorf("the final batch was answered %d %s", status, answer)
	}
	record := harness.Text(t, s.URL+"/api/jobs/"+id)
	_, batches, _ := strings.Cut(record, `"suggestions":`)
	holds("a batch", batches)
	_, rest, _ := strings.Cut(record, `"list":`)
	holds("the final batch", rest)
	harness.Eventually(t, "the webhook", func() bool { return strings.Contains(hooked(), `"job.received"`) })
	holds("the webhook", hooked())
}

// A number that cannot be represented is rejected at each entry, by its name.
func TestNumbersThatNoDoorTakes(t *testing.T) {
	t.Parallel()
	s, _, _ := exactServer(t)
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "exact", "userId": "u1", "input": harness.Object{}})
	signed := `{"requestId":"` + id + `","hmac":"` + envelope["hmac"].(string) + `",`
	for path, body := range map[string]string{
		"/api/jobs":                     `{"kind":"exact","userId":"u1","input":{"list":[%]}}`,
		"/hitl/runs":                    `{"prompt":"x","user_id":"u1","agent_tool_config":{"kind":"exact","list":[%]}}`,
		"/api/claude/actions/echo":      signed + `"input":{"list":[%]}}`,
		"/api/claude/suggestions/batch": signed + `"batch":1,"suggestions":[%]}`,
		"/api/claude/result":            signed + `"list":[%]}`,
		"/to-llm":                       `{"userId":"u1","sessionId":"s","content":"x","props":{"list":[%]}}`,
		"/from-llm":                     `{"userId":"u1","sessionId":"s","content":"x","props":{"list":[%]}}`,
	} {
		for value, named := range map[string]string{`{"a":1,"a":2}`: "/0/a", `{"a":1,"\u0061":1}`: "/0/a", "1e400": "/0", "-1e400": "/0", "5e-324": "/0"} {
			status, answer := send(t, s.URL+path, strings.ReplaceAll(body, "%", value))
			carried := status == http.StatusOK && strings.HasSuffix(path, "-llm") && !strings.HasPrefix(value, "{")
			if !carried && (status != http.StatusBadRequest || !strings.Contains(answer, named+`"`)) {
				t.Errorf("%s of %s was answered %d %s", value, path, status, answer)
			}
		}
	}
}

// A key that was used with one number creates no job for a similar one.
func TestNumbersOfIdempotentRequests(t *testing.T) {
	t.Parallel()
	s, _, _ := exactServer(t)
	ask := func(number string) int {
		status, _ := send(t, s.URL+"/api/jobs", `{"kind":"exact","userId":"u1","idempotencyKey":"k","options":{"simulate":"manual"},"input":{"n":`+number+`}}`)
		return status
	}
	if status := ask("9007199254740992"); status != http.StatusAccepted {
		t.Fatalf("answered %d", status)
	}
	for _, number := range []string{
		"9007199254740993", "9007199254740991.9999999999", "9007199254740992.0000000001", "-9007199254740992", "90071992547409920", "9007199254740992e1", "9007199254740994", "0", `"9007199254740992"`, "[9007199254740992]",
	} {
		if status := ask(number); status != http.StatusConflict {
			t.Errorf("%s was answered %d", number, status)
		}
	}
}

// A change's own numbers may be written in any way that an integer may be.
func TestWholeNumbersOfAChange(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"SANDBOX": "off"}, nil)
	repository := t.TempDir()
	harness.GitRepository(t, repository, "main", map[string]string{"README": "x"})
	for _, number := range []string{"5", "5.0", "5e0", "50e-1", "0.5e1", "5.00", "500E-2", "0.05e+2", "5.000000000000000000000", "0.005e3"} {
		status, answer := send(t, s.URL+"/api/jobs", `{"kind":"code-change","userId":"u1","input":{"prompt":"x","max_steering_iterations":`+number+`,"repos":[{"url":"`+repository+`","depth":`+number+`}]}}`)
		if status != http.StatusAccepted {
			t.Errorf("%s was answered %d %s", number, status, answer)
		}
	}
	for _, number := range []string{"0.5", "5.000000000000000000001", "1e400", "-5", "9007199254740993", "1e18", "1e19", "-1e300", "18446744073709551616", `"5"`} {
		if status, answer := send(t, s.URL+"/api/jobs", `{"kind":"code-change","userId":"u1","input":{"prompt":"x","max_steering_iterations":`+number+`,"repos":[{"url":"/no/such"}]}}`); status != http.StatusBadRequest || !strings.Contains(answer, "/input/max_steering_iterations") {
			t.Errorf("%s was answered %d %s", number, status, answer)
		}
	}
}
