package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
)

// Resync is the name of the event that says that older ones are no longer kept.
const Resync = "resync"

// Watch says which events to listen to.
type Watch struct {
	UserID    string
	RequestID job.ID // empty: all jobs of the user
	// Since is the id of the last event known; nil: only new ones.
	Since *job.Seq
}

// Watch yields events as they happen. A lost connection is made again, and the
// events missed meanwhile follow. It ends with ctx, or with an error when the
// server refuses.
func (c *Client) Watch(ctx context.Context, w Watch) iter.Seq2[job.Event, error] {
	return func(yield func(job.Event, error) bool) {
		for delay := 100 * time.Millisecond; ctx.Err() == nil; delay = min(2*delay, 5*time.Second) {
			conn, err := c.dial(ctx, w)
			if err != nil {
				if refused(err) {
					yield(job.Event{}, err)
					return
				}
			} else {
				delay = 100 * time.Millisecond
				if !listen(ctx, conn, &w, yield) {
					return
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(delay):
			}
		}
	}
}

func (c *Client) dial(ctx context.Context, w Watch) (*websocket.Conn, error) {
	query := url.Values{}
	if w.UserID != "" {
		query.Set("userId", w.UserID)
	}
	if w.RequestID != "" {
		query.Set("requestId", string(w.RequestID))
	}
	if w.Since != nil {
		query.Set("since", w.Since.String())
	}
	header := http.Header{}
	if c.token != "" {
		header.Set("Authorization", "Bearer "+c.token)
	}
	address := "ws" + strings.TrimPrefix(c.base, "http") + "/ws?" + query.Encode()
	conn, resp, err := websocket.DefaultDialer.DialContext(ctx, address, header)
	if err != nil && resp != nil {
		defer resp.Body.Close()
		return nil, readError(resp)
	}
	return conn, err
}

// refused tells an answer of the server from a server that is away.
func refused(err error) bool {
	e, answered := err.(*job.Error) //nolint:errorlint // dial returns it bare
	return answered && e.Kind != job.Unavailable
}

// listen yields what arrives on one connection; false when nobody listens any
// more.
func listen(ctx context.Context, conn *websocket.Conn, w *Watch, yield func(job.Event, error) bool) bool {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	for {
		_, frame, err := conn.ReadMessage()
		if err != nil {
			return ctx.Err() == nil
		}
		var e job.Event
		if json.Unmarshal(frame, &e) != nil {
			continue
		}
		if e.ID != 0 {
			w.Since = &e.ID
		}
		if !yield(e, nil) {
			return false
		}
	}
}
