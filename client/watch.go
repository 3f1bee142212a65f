package client

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
)

// Watch says which events to listen to.
type Watch struct {
	// UserID is whose events; empty means the token's user.
	UserID string
	// RequestID narrows them to one job; empty: all jobs of the user.
	RequestID job.ID
	// Text asks for the text of that job as Claude writes it, too: job.TextEvent.
	Text bool
	// Since is the id of the last event known, 0 for all that are kept; nil: only
	// new ones.
	Since *job.Seq
	// Patient keeps trying when not even the first connection can be made.
	Patient bool
	// AwayFunc, if set, is told why the server is away, once each time it goes.
	AwayFunc func(error)
}

// Watch yields events as they happen, each once. A lost connection is made
// again, and the events missed meanwhile follow. It ends with ctx, or with an
// error when the server refuses or was never there.
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

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// subscription is one Watch over all of its connections.
type subscription struct {
	client *Client
	watch  Watch
	yield  func(Event, error) bool
	begun  time.Time
	known  bool    // a connection was made once
	gone   bool    // AwayFunc was told
	over   bool    // nobody listens any more
	last   job.Seq // the last event yielded or known before
	// filter drops events older than begun: see resume.
	filter bool
}

// final reports whether trying again is of no use.
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
	case job.Invalid, job.Unauthorized, job.Forbidden, job.NotFound, job.Conflict, job.TooLarge, job.Unsupported, job.Method:
		return true
	}
	return true
}

func (s *subscription) away(err error) {
	if s.watch.AwayFunc != nil && !s.gone {
		s.watch.AwayFunc(err)
	}
	s.gone = true
}

// connect makes a connection and listens until it is lost.
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

// resume chooses where to go on. A watch of only new events whose connection
// was lost before the first of them has no id to go on from: it asks for all
// that are kept and drops those from before it began.
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
	return nil, refusal(resp)
}

// dialer opens WebSockets the way in which the client's requests are sent.
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
	query := url.Values{}
	if s.watch.UserID != "" {
		query.Set("userId", s.watch.UserID)
	}
	if s.watch.RequestID != "" {
		query.Set("requestId", string(s.watch.RequestID))
	}
	if s.watch.Text {
		query.Set("text", "true")
	}
	if s.watch.Since != nil {
		query.Set("since", s.watch.Since.String())
	}
	return "ws" + strings.TrimPrefix(s.client.base, "http") + "/ws?" + query.Encode()
}

// deadAfter is how long a server may be silent: it pings more often.
const deadAfter = 90 * time.Second

// listen yields what arrives on one connection until it is lost.
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

// closed makes an error of ours of a close code by which the server says that
// connecting again is of no use.
func closed(err error) error {
	kinds := map[int]job.ErrorKind{4400: job.Invalid, 4401: job.Unauthorized, 4403: job.Forbidden}
	if end, ok := errors.AsType[*websocket.CloseError](err); ok && kinds[end.Code] != "" {
		return job.Errorf(kinds[end.Code], "%s", cmp.Or(end.Text, "The server closed the connection"))
	}
	return err
}

// clocksDiffer is by how much the clocks of two machines may.
const clocksDiffer = 5 * time.Second

// wants decides whether an event is new, and notes how far we are.
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

// resync notes that what was heard last is not the server's past: what comes now is new,
// whatever its id. Who has heard nothing yet misses nothing.
func (s *subscription) resync() bool {
	s.last = 0
	return !s.filter || *s.watch.Since > 0
}
