package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
)

// Watch selects the events to listen to.
type Watch struct {
	// UserID is the owner of the events; empty means the token's user.
	UserID string
	// RequestID restricts them to one job; empty means all jobs of the user.
	RequestID job.ID
	// Text also requests the text of that job as Claude writes it: job.TextEvent.
	Text bool
	// Since is the id of the last known event. 0 means all retained events; nil means only new
	// ones.
	Since *job.Seq
	// Patient keeps retrying even if the first connection fails.
	Patient bool
	// AwayFunc, if set, is called with the reason each time the server becomes unreachable.
	AwayFunc func(error)
}

// Watch yields events as they happen, each once. After a lost connection, it reconnects and yields
// the events missed in between. It ends with ctx, or with an error if the server refuses or could
// not be reached at first.
func (c *Client) Watch(ctx context.Context, w Watch) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &subscription{client: c, watch: w, yield: yield, begun: time.Now()}
		for delay := minDelay; ctx.Err() == nil; delay = min(2*delay, maxDelay) {
			start := time.Now()
			err := s.connect(ctx)
			if s.over || ctx.Err() != nil {
				return
			}
			if s.final(err) {
				yield(Event{}, err)
				return
			}
			if time.Since(start) > maxDelay { // it was a good connection
				delay = minDelay
			}
			s.away(err)
			pause(ctx, delay)
		}
	}
}

// How long to wait before connecting again.
const (
	minDelay = 100 * time.Millisecond
	maxDelay = 5 * time.Second
)

// pause waits for d and a random part of up to a half of it, so that clients that have lost the same
// server do not all return at once.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d + job.Jitter(d/2)):
	}
}

// subscription is one Watch across all of its connections.
type subscription struct {
	client *Client
	watch  Watch
	yield  func(Event, error) bool
	begun  time.Time
	known  bool    // a connection was established once
	gone   bool    // AwayFunc was called
	over   bool    // the consumer has stopped
	last   job.Seq // the last event yielded or known before
	// filter drops events older than begun, see resume.
	filter bool
}

// final reports whether retrying is useless.
func (s *subscription) final(err error) bool {
	var e *job.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case job.Unavailable, job.Internal:
		return !s.known && !s.watch.Patient
	case job.TooMany:
		return false
	default:
		return true
	}
}

func (s *subscription) away(err error) {
	if s.watch.AwayFunc != nil && !s.gone {
		s.watch.AwayFunc(err)
	}
	s.gone = true
}

// connect opens a connection and listens until it is lost.
func (s *subscription) connect(ctx context.Context) error {
	s.resume()
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	s.known, s.gone = true, false
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	return s.listen(conn)
}

// resume chooses the event to continue from. If a watch of only new events loses its connection
// before the first event, it has no id to continue from. It then requests all retained events and
// drops those from before it began.
func (s *subscription) resume() {
	if s.known && s.watch.Since == nil {
		s.watch.Since, s.filter = new(job.Seq), true
	}
	if s.watch.Since != nil {
		s.last = max(s.last, *s.watch.Since)
	}
}

func (s *subscription) dial(ctx context.Context) (*websocket.Conn, error) {
	conn, resp, err := s.client.dialer().DialContext(ctx, s.url(), s.client.header())
	switch {
	case err == nil:
		return conn, nil
	case resp == nil:
		return nil, s.client.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < http.StatusMultipleChoices {
		return nil, s.client.foreign(err)
	}
	return nil, s.client.refusal(resp)
}

// dialer opens WebSockets with the transport settings of the client's requests.
func (c *Client) dialer() *websocket.Dialer {
	d := &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 15 * time.Second}
	if t, ok := c.http.Transport.(*http.Transport); ok {
		d.Proxy, d.NetDialContext, d.NetDialTLSContext = t.Proxy, t.DialContext, t.DialTLSContext
		if t.TLSClientConfig != nil {
			d.TLSClientConfig = t.TLSClientConfig.Clone()
			d.TLSClientConfig.NextProtos = nil // HTTP/2 has no WebSockets here
		}
	}
	return d
}

func (s *subscription) url() string {
	parameters := map[string]string{"userId": s.watch.UserID, "requestId": string(s.watch.RequestID)}
	if s.watch.Text {
		parameters["text"] = "true"
	}
	if s.watch.Since != nil {
		parameters["since"] = s.watch.Since.String()
	}
	return "ws" + strings.TrimPrefix(s.client.base, "http") + "/ws" + queryOf(parameters)
}

// deadAfter is the longest silence of a live server; it pings more often than that.
const deadAfter = 90 * time.Second

// listen yields the events of one connection until it is lost.
func (s *subscription) listen(conn *websocket.Conn) error {
	alive := func() { _ = conn.SetReadDeadline(time.Now().Add(deadAfter)) }
	answer := conn.PingHandler()
	conn.SetPingHandler(func(data string) error {
		alive()
		return answer(data)
	})
	for {
		alive()
		_, frame, err := conn.ReadMessage()
		if err != nil {
			return closed(err)
		}
		if e, ok := readEvent(frame); ok && s.wants(e) && !s.yield(e, nil) {
			s.over = true
			return nil
		}
	}
}

// closed converts a close code that means "do not reconnect" to an error of this package.
func closed(err error) error {
	kinds := map[int]job.ErrorKind{4400: job.Invalid, 4401: job.Unauthorized, 4403: job.Forbidden}
	if end, ok := errors.AsType[*websocket.CloseError](err); ok && kinds[end.Code] != "" {
		return job.Errorf(kinds[end.Code], "%s", cmp.Or(end.Text, "The server closed the connection"))
	}
	return err
}

// clocksDiffer is the assumed maximum difference between the clocks of two machines.
const clocksDiffer = 5 * time.Second

// wants reports whether an event is new, and records its id.
func (s *subscription) wants(e Event) bool {
	if e.Name == Resync {
		return s.resync()
	}
	if e.ID == 0 {
		return true
	}
	if e.ID <= s.last {
		return false
	}
	s.last = e.ID
	s.watch.Since = new(e.ID)
	return !s.filter || !e.Time.Before(s.begun.Add(-clocksDiffer))
}

// resync records that the last known id does not belong to the server's history: all events that
// follow are new, whatever their ids. It reports whether to yield the event: a watch that has
// received no event yet misses nothing.
func (s *subscription) resync() bool {
	s.last = 0
	return !s.filter || *s.watch.Since > 0
}

// Resync is the name of the event that reports missing events: they are no longer kept, or the
// store has lost the latest ones. The client must reload what it displays.
const Resync = "resync"

// Event is an event as received.
type Event struct {
	job.Event
	// JSON is the frame as received.
	JSON json.RawMessage
}

// readEvent parses a frame. It returns false for a frame that is not an event, such as the response
// to a frame from the client.
func readEvent(frame []byte) (Event, bool) {
	e := Event{JSON: frame}
	err := json.Unmarshal(frame, &e.Event)
	return e, err == nil && e.Name != ""
}

// Type returns the event's name without its prefix. The prefix may contain colons.
func (e Event) Type() job.EventType {
	_, t := job.CutEvent(e.Name)
	return t
}

// Wait returns the record of a job as soon as the job has ended or is in one of the given states.
// For example, Wait(ctx, id, AwaitingApproval, AwaitingInput) also returns when the job asks a
// person. It survives restarts of the server. Errors: those of Get, and that of ctx.
func (c *Client) Wait(ctx context.Context, id job.ID, states ...job.State) (Answer[job.Job], error) {
	record, err := c.Get(ctx, id)
	if err != nil || reached(record, states) {
		return record, err
	}
	watch := Watch{UserID: record.Value.UserID, RequestID: id, Since: new(job.Seq), Patient: true}
	for e, err := range c.Watch(ctx, watch) {
		if err != nil {
			return record, err
		}
		if !movesJob(e) {
			continue
		}
		record, err = UntilAvailable(ctx, func() (Answer[job.Job], error) { return c.Get(ctx, id) })
		if err != nil || reached(record, states) {
			return record, err
		}
	}
	return record, ctx.Err()
}

func reached(record Answer[job.Job], states []job.State) bool {
	return record.Value.State.Terminal() || slices.Contains(states, record.Value.State)
}

// movesJob reports whether an event may come with a change of the job's state.
func movesJob(e Event) bool {
	return !slices.Contains(
		[]job.EventType{job.EventActivity, job.EventPartial, job.EventMessage, job.EventHeard, job.EventVersion}, e.Type(),
	)
}

// UntilAvailable repeats a request until the server responds and is not Unavailable: after 500 ms or
// somewhat more, or later if the server asks for it. Use it only for requests that can be repeated
// safely: reads, and Create with an IdempotencyKey.
func UntilAvailable[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	for {
		answer, err := ask()
		e, ok := errors.AsType[*job.Error](err)
		if !ok || e.Kind != job.Unavailable {
			return answer, err
		}
		pause(ctx, max(e.RetryAfter, 500*time.Millisecond))
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
	}
}
