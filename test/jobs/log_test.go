package jobs

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// TestTheLogTellsTheStoryOfJobs checks that the log at the default level contains what an
// operator needs: what was rejected and why, what was retried and why, how each job ended.
// The metrics distinguish a timeout from a failure.
func TestTheLogTellsTheStoryOfJobs(t *testing.T) {
	t.Parallel()
	cli := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, cli, "#!/bin/sh\n"+harness.AnswersVersion+"cat >/dev/null\n"+begins+"echo 'the disk of the CLI is full' >&2\nexit 3\n")
	n := rig.Start(t, vars{"CLAUDE_BIN": cli, "RETRY_BACKOFF": "1ms", "CALLBACK_TIMEOUT": "3s"})
	received, envelope := n.Manual(t, object{"userId": "u1"})
	n.Want(t, http.StatusForbidden, "POST", "/api/claude/progress", rig.With(envelope, object{"hmac": strings.Repeat("0", 64), "message": "x"}))
	n.Want(t, http.StatusBadRequest, "POST", "/api/claude/result", rig.With(envelope, object{"suggestions": 5}))
	n.Want(t, http.StatusOK, "POST", "/api/claude/result", rig.With(envelope, rig.MealResult("Soup")))
	n.Await(t, received, "received")
	expired, _ := n.Manual(t, object{"userId": "u1"})
	n.Await(t, expired, "expired")
	failed := n.Create(t, object{"userId": "u1"})
	n.Await(t, failed, "failed")

	for what, words := range map[string][]string{
		"a job that was created":    {"INFO", "job created", received},
		"a signature that is wrong": {"callback", "status=403", received, "refused="},
		"a payload that is wrong":   {"callback", "status=400", received, "/suggestions"},
		"one that was accepted":     {"callback", "status=200", received},
		"how it ended":              {"INFO", "job received", received},
		"one that expired":          {"WARN", "job expired", expired, "code=callback_timeout"},
		"one that is tried again":   {"WARN", "turn failed, retrying job", failed, "2 of "},
		"what its CLI said":         {"WARN", "turn ended", failed, "the disk of the CLI is full"},
		"one that failed":           {"WARN", "job failed", failed, "code="},
	} {
		must.Eventually(t, fmt.Sprintf("the log to tell of %s: a line with all of %q", what, words), func() bool { // after the event
			return anyLineHas(n.Log.String(), words)
		})
	}
	metrics := n.Metrics(t)
	for _, words := range [][]string{
		{"ringback_jobs_ended_total", `status="expired"`, `code="callback_timeout"`, " 1"},
		{"ringback_jobs_ended_total", `status="failed"`, " 1"},
		{"ringback_jobs_ended_total", `status="received"`, `code=""`, " 1"},
	} {
		if !anyLineHas(metrics, words) {
			t.Errorf("no metric has all of %q", words)
		}
	}
}

func anyLineHas(text string, words []string) bool {
	for line := range strings.Lines(text) {
		has := true
		for _, word := range words {
			has = has && strings.Contains(line, word)
		}
		if has {
			return true
		}
	}
	return false
}

// For every rejected callback or API call, one line of the log contains the reason, and the
// requestId if the job is known.
func TestEveryRefusalIsInTheLog(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"API_KEYS": "a-key-of-the-back-end", "HOLD": "0s", "CLAUDE_BIN": "simulate"})
	n.Key = "a-key-of-the-back-end"
	live, envelope := n.Manual(t, object{"userId": "u1"})
	done, doneEnvelope := n.Manual(t, object{"userId": "u1"})
	n.Want(t, http.StatusOK, "POST", "/api/claude/result", rig.With(doneEnvelope, rig.MealResult("Soup")))
	wrong := object{"requestId": live, "hmac": strings.Repeat("0", 64)}
	big := strings.Repeat("x", 2<<20)
	type refusal struct {
		method, path string
		body         any
		headers      []string
		status       int
		says         []string
	}
	refusals := map[string]refusal{
		"another body for an accepted result":  {"POST", "/api/claude/result", rig.With(doneEnvelope, rig.MealResult("Stew")), nil, 409, []string{"callback", done}},
		"a question of a job that has ended":   {"POST", "/api/claude/checkpoints", rig.With(doneEnvelope, object{"type": "information_request", "message": "x"}), nil, 404, []string{"callback", done}},
		"no key":                               {"POST", "/api/jobs", object{}, []string{"Authorization", ""}, 401, []string{"request refused", "no key"}},
		"no key to read":                       {"GET", "/api/jobs", nil, []string{"Authorization", ""}, 401, []string{"request refused", "no key"}},
		"a wrong key":                          {"POST", "/to-llm", object{}, []string{"Authorization", "Bearer nonsense"}, 401, []string{"request refused", "Not authorized"}},
		"a body that is too large for the API": {"POST", "/api/jobs", object{"x": big}, nil, 413, []string{"API call"}},
		"a body of the API that is no JSON":    {"POST", "/api/jobs", "{", nil, 400, []string{"API call"}},
		"a kind that is not there":             {"POST", "/api/jobs", object{"kind": "nope", "userId": "u1"}, nil, 404, []string{"API call", "kind"}},
		"a job that is not there":              {"POST", "/api/jobs/req_nope/cancel", nil, nil, 404, []string{"API call"}},
		"a page of others":                     {"POST", "/api/jobs", object{}, []string{"Origin", "https://evil.example"}, 403, []string{"/api/jobs", "status=403"}},
	}
	for _, path := range []string{
		"/api/claude/progress", "/api/claude/result", "/api/claude/suggestions", "/api/claude/suggestions/batch", "/api/claude/failure", "/api/claude/checkpoints",
		"/api/claude/tool-calls", "/api/claude/actions/nosuch", "/progress", "/suggestions",
	} {
		shortened := strings.TrimSuffix(path, "nosuch")
		refusals["a signature that is wrong at "+path] = refusal{"POST", path, rig.With(wrong, object{"message": "x"}), nil, 403, []string{"callback", live, shortened}}
		refusals["a body that is too large at "+path] = refusal{"POST", path, rig.With(envelope, object{"message": big}), nil, 413, []string{"callback", shortened, "too large"}}
		refusals["a body that is no JSON at "+path] = refusal{"POST", path, "{", nil, 400, []string{"callback", shortened}}
		refusals["another content type at "+path] = refusal{"POST", path, "x=1", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, []string{"callback", shortened}}
		refusals["a job that is not there at "+path] = refusal{"POST", path, object{"requestId": "req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa", "hmac": strings.Repeat("0", 64), "message": "x"}, nil, 404, []string{"callback", shortened, "req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa"}}
		refusals["a page of others at "+path] = refusal{"POST", path, rig.With(envelope, object{"message": "x"}), []string{"Origin", "https://evil.example"}, 403, []string{path, "status=403"}}
	}
	for what, r := range refusals {
		before := len(n.Log.String())
		status, answer := n.Do(t, r.method, r.path, r.body, r.headers...)
		must.Equal(t, r.status, status, what, r.path, "was answered", answer)
		said := func() bool { return anyLineHas(n.Log.String()[before:], append([]string{"refused="}, r.says...)) }
		for end := time.Now().Add(2 * time.Second); !said() && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		}
		if !said() {
			t.Errorf("%s: %s is refused (%d), and no line says so with %q:\n%s", what, r.path, status, r.says, n.Log.String()[before:])
		}
	}
}
