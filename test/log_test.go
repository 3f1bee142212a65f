package test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheLogTellsTheStoryOfJobs reads, at the level that is the default, what an operator
// needs: what was refused and why, what was tried again and why, how each job ended. The
// metrics tell a timeout from a failure.
func TestTheLogTellsTheStoryOfJobs(t *testing.T) {
	t.Parallel()
	cli := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(cli, []byte("#!/bin/sh\ncat >/dev/null\necho 'the disk of the CLI is full' >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	n := startNode(t, vars{"CLAUDE_BIN": cli, "RETRY_BACKOFF": "1ms", "CALLBACK_TIMEOUT": "3s"})
	received, envelope := n.manual(t, object{"userId": "u1"})
	n.want(t, http.StatusForbidden, "POST", "/api/claude/progress", with(envelope, object{"hmac": strings.Repeat("0", 64), "message": "x"}))
	n.want(t, http.StatusBadRequest, "POST", "/api/claude/result", with(envelope, object{"suggestions": 5}))
	n.want(t, http.StatusOK, "POST", "/api/claude/result", with(envelope, mealResult("Soup")))
	n.await(t, received, "received")
	expired, _ := n.manual(t, object{"userId": "u1"})
	n.await(t, expired, "expired")
	failed := n.create(t, object{"userId": "u1"})
	n.await(t, failed, "failed")

	for what, words := range map[string][]string{
		"a job that was created":    {"INFO", "a job was created", received},
		"a signature that is wrong": {"callback", "status=403", received, "refused="},
		"a payload that is wrong":   {"callback", "status=400", received, "/suggestions"},
		"one that was accepted":     {"callback", "status=200", received},
		"how it ended":              {"INFO", "a job is received", received},
		"one that expired":          {"WARN", "a job expired", expired, "code=callback_timeout"},
		"one that is tried again":   {"WARN", "tried again", failed, "2 of "},
		"what its CLI said":         {"WARN", "turn ended", failed, "the disk of the CLI is full"},
		"one that failed":           {"WARN", "a job failed", failed, "code="},
	} {
		if !anyLineHas(n.log.String(), words) {
			t.Errorf("the log does not tell of %s: no line has all of %q", what, words)
		}
	}
	resp, err := http.Get(n.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	metrics, _ := io.ReadAll(resp.Body)
	for _, words := range [][]string{
		{"ringback_jobs_ended_total", `status="expired"`, `code="callback_timeout"`, " 1"},
		{"ringback_jobs_ended_total", `status="failed"`, " 1"},
		{"ringback_jobs_ended_total", `status="received"`, `code=""`, " 1"},
	} {
		if !anyLineHas(string(metrics), words) {
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
