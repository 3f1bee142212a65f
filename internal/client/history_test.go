package client_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
)

func TestEventsOfAJob(t *testing.T) {
	t.Parallel()
	c, asked := answering(t, http.StatusOK,
		`{"events":[{"id":"8","event":"k:running","requestId":"r","userId":"u","time":"2026-03-01T10:00:00Z","data":{"status":"running"}}]}`)
	got, err := c.Events(t.Context(), "r", 7)
	if err != nil {
		t.Fatal(err)
	}
	want := []job.Event{{
		ID: 8, Name: "k:running", RequestID: "r", UserID: "u",
		Time: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Data: []byte(`{"status":"running"}`),
	}}
	if diff := cmp.Diff(want, got.Value.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if asked.Line != "GET /api/jobs/r/events?since=7" {
		t.Errorf("asked %s", asked.Line)
	}
}

func TestTranscriptComesAsItWasPrinted(t *testing.T) {
	t.Parallel()
	const lines = `{"type":"system"}` + "\n" + `{"type":"result"}` + "\n"
	for _, printed := range []string{lines, ""} {
		c, asked := answering(t, http.StatusOK, printed)
		got, err := c.Transcript(t.Context(), "r")
		if err != nil || string(got) != printed {
			t.Errorf("got %q, %v; want %q", got, err, printed)
		}
		if asked.Line != "GET /api/jobs/r/transcript" {
			t.Errorf("asked %s", asked.Line)
		}
	}
}
