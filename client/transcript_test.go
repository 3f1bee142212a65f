package client_test

import (
	"net/http"
	"testing"

	"ringback/test/must"
)

func TestTranscriptComesAsItWasPrinted(t *testing.T) {
	t.Parallel()
	const lines = `{"type":"system"}` + "\n" + `{"type":"result"}` + "\n"
	for _, printed := range []string{lines, ""} {
		c, asked := answering(t, http.StatusOK, printed)
		got, err := c.Transcript(t.Context(), "r")
		if err != nil || string(got) != printed {
			t.Errorf("got %q, %v; want %q", got, err, printed)
		}
		must.Equal(t, "GET /api/jobs/r/transcript", asked.Line, "asked")
	}
}
