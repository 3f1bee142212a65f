package attack

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
)

// Whatever a job or a user wrote, rendering it costs the server little, and no page is much
// longer than its content.
func TestPagesOfHostileTextsAreSmall(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"HOLD": "10ms"}, nil)
	table := func(size int) string {
		return strings.Repeat("|", size/4) + "\n" + strings.Repeat("-|", size/8) + "\n" + strings.Repeat("|\n", size/8)
	}
	links := "[a]: https://a.example/" + strings.Repeat("x", 20_000) + "\n\n" + strings.Repeat("[a]", 10_000)
	texts := []string{table(4000), table(60_000), links, strings.Repeat("*a **b ", 8000), strings.Repeat("- ", 1000) + strings.Repeat("\n", 60_000), strings.Repeat("<a x='", 10_000), strings.Repeat(">", 60_000)}
	id, envelope := s.Manual(t, nil, harness.Object{"userId": "u1"})
	record := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id})
	sent := 0
	for _, text := range texts {
		sent += len(text)
		s.Want(t, 200, harness.Request{Method: "POST", Path: "/from-llm", Body: harness.Object{"sessionId": record["sessionId"], "userId": "u1", "content": text}})
	}
	deep := strings.Repeat("[", 4000) + strings.Repeat("]", 4000)
	question := harness.Object{"type": "information_request", "message": table(4000), "props": harness.Object{"current_value": deep}, "requestId": envelope["requestId"], "hmac": envelope["hmac"]}
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/claude/checkpoints", Body: question})
	before := harness.Memory(t, s.Cmd.Process.Pid, "VmHWM")
	for _, path := range []string{"/jobs/" + id, "/jobs/" + id + "?as=text", "/inbox", "/jobs/" + id + "/timeline", "/jobs/" + id + "/transcript"} {
		resp := harness.Exchange(t, s.URL, harness.Request{Method: "GET", Path: path, By: &http.Client{Timeout: 30 * time.Second}})
		if size := len(resp.Text); resp.Status != http.StatusOK || size > 16*sent {
			t.Errorf("%s was answered %d with %d bytes, for texts of %d", path, resp.Status, size, sent)
		}
	}
	if grown := harness.Memory(t, s.Cmd.Process.Pid, "VmHWM") - before; grown > 200<<20 {
		t.Errorf("the pages took %d MiB of memory", grown>>20)
	}
}
