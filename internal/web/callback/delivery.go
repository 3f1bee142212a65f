package callback

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"ringback/internal/web/httpjson"
)

// deliveries record that Claude has received what an answer contains: a person's reply, the result of an
// action, messages. What is not recorded is delivered again with another answer.
type deliveries struct {
	mu      sync.Mutex
	records []func(context.Context) error
}

// whenSent adds what is recorded once the answer has left the server.
func (in *call) whenSent(record func(context.Context) error) {
	in.deliveries.mu.Lock()
	defer in.deliveries.mu.Unlock()
	in.deliveries.records = append(in.deliveries.records, record)
}

const recordTimeout = 10 * time.Second

// send writes an answer, and records its deliveries once its last byte has left the server: before that,
// a server that is killed takes it along. Nothing is recorded if the client was gone before. That it hangs
// up afterwards says nothing: curl does so as soon as it has the answer.
func (in *call) send(c echo.Context, answer json.RawMessage) error {
	in.deliveries.mu.Lock()
	defer in.deliveries.mu.Unlock()
	if len(in.deliveries.records) == 0 {
		return httpjson.WriteText(c, http.StatusOK, answer)
	}
	in.recording.Lock()
	defer in.recording.Unlock()
	wasGone := in.ctx.Err() != nil
	if err := httpjson.WriteThrough(c, http.StatusOK, answer); err != nil || wasGone {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx), recordTimeout)
	defer cancel()
	for _, record := range in.deliveries.records {
		_ = record(ctx)
	}
	return nil
}
