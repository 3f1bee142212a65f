package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"ringback/internal/job"
)

// FuzzClientFrame feeds the reader of what WebSocket clients send.
func FuzzClientFrame(f *testing.F) {
	for _, seed := range []string{`{"type":"ping"}`, `{"type":"subscribe","requestId":"req_1"}`, `{"type":5}`, `[]`, `{"type":"unsubscribe"}`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := &client{Request: Request{MayFollow: func(context.Context, job.ID) error { return nil }}}
		answer := c.handle(t.Context(), text)
		if answer.Type == "" || answer.Type == "error" && answer.Error == "" {
			t.Errorf("%q is answered %+v", text, answer)
		}
		if _, err := json.Marshal(answer); err != nil {
			t.Error(err)
		}
	})
}

func TestClientCannotMakeUsRememberWithoutEnd(t *testing.T) {
	t.Parallel()
	c := &client{}
	for i := range 3 * maxChosen {
		c.handle(t.Context(), fmt.Appendf(nil, `{"type":"unsubscribe","requestId":"req_%d"}`, i))
	}
	if len(c.muted) > maxChosen {
		t.Errorf("%d jobs are remembered", len(c.muted))
	}
}
