package hub

import (
	"bufio"
	"context"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
)

// client is one WebSocket connection.
type client struct {
	hub *Hub
	Request
	room *room
	// conn is only read from, by one goroutine at a time, through the buffer in. Writes go
	// directly to net, whole frames at a time.
	conn *websocket.Conn
	in   *bufio.Reader
	net  net.Conn
	// input is the client's number among the inputs; 0 until it is idle for the first time.
	input int32
	// lastFrame is the time of the latest frame from the client, as returned by sinceStart.
	lastFrame atomic.Int64

	// silent is closed when nothing more can be read from the client.
	silent chan struct{}

	mu      sync.Mutex
	space   *sync.Cond // signalled when the queue shrinks or the client ends
	queue   []*frame
	queued  int // size in bytes of what is not written yet
	writing bool
	// ended is set when the connection is about to close. A close frame with the reason is
	// then the last frame.
	ended bool
	// slow is true if the connection ends because the client reads too slowly.
	slow bool
	// readTo is the latest event that was queued.
	readTo job.Seq
	// only holds the jobs of which the client wants events, or is nil for all jobs. muted holds
	// the jobs it has unsubscribed from.
	only, muted map[job.ID]bool
	// reading holds the jobs of which the client wants the text while Claude writes it.
	reading map[job.ID]bool
	// expiry is the timer for the next check of the credential.
	expiry *time.Timer
}

// Request describes what a client subscribes to.
type Request struct {
	// UserID limits the events to those of one user.
	UserID string
	// All selects new events of all users; UserID is then ignored.
	All     bool
	Address string
	// RequestID limits the events to one job; empty means all jobs.
	RequestID job.ID
	// Text also sends the text of that job while Claude writes it.
	Text bool
	// Since is the event after which to start, if Resume is set. Otherwise only new events are
	// sent.
	Since  job.Seq
	Resume bool
	// Until returns when the caller's key or token expires, which also ends the connection. It
	// is nil for credentials that never expire.
	Until UntilFunc
	Reply ReplyFunc
	// MayFollow returns an error if the client may not follow a job.
	MayFollow func(ctx context.Context, id job.ID) error
}

// UntilFunc returns the current expiry time of a credential, or zero if it does not expire. ok
// is false once the credential is no longer valid.
type UntilFunc func() (until time.Time, ok bool)

// ReplyFunc handles a user's reply to a checkpoint and returns the updated checkpoint. body contains
// the other fields of its frame.
type ReplyFunc func(ctx context.Context, id job.CheckpointID, body map[string]any) (job.Checkpoint, error)

// Serve upgrades a request to a WebSocket and returns; the connection stays open. The caller
// must have authorized the request (see Refuse). Serve returns an error if Options.Limits are
// reached.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, want Request) error {
	if h.ctx.Err() != nil {
		return job.Errorf(job.Unavailable, "The server is stopping").WithHint("Connect again.")
	}
	if want.All {
		want.UserID = allUsers
	}
	if err := h.admission.enter(want.UserID, want.Address); err != nil {
		return err
	}
	served := false
	defer func() {
		if !served {
			h.admission.leave(want.UserID, want.Address)
		}
	}()
	if !want.Resume && !want.All {
		// The client must see every event from the moment it is connected, so read the
		// starting point before the upgrade.
		past, err := h.store.Events.OfUser(r.Context(), want.UserID, math.MaxInt64, 1)
		if err != nil {
			return err
		}
		want.Since = past.Last
	}
	conn, in, err := upgrade(w, r)
	if conn == nil {
		return err
	}
	served = true
	c := &client{hub: h, Request: want, conn: conn, in: in, net: conn.NetConn(), readTo: want.Since, silent: make(chan struct{})}
	c.space = sync.NewCond(&c.mu)
	c.noteFrame()
	c.prepare()
	if want.RequestID != "" {
		c.only = map[job.ID]bool{want.RequestID: true}
	}
	h.join(c)
	c.checkCredential() // from here on CheckCredentials finds the client
	if h.ctx.Err() != nil {
		c.end(CloseRestart, "the server restarts, connect again")
	}
	h.replay(func() {
		if !want.All {
			c.replay(c.room)
		}
		if want.Text { // replays the text written so far
			c.readText(want.RequestID)
		}
	})
	if !c.await() {
		go c.read()
	}
	return nil
}

// replay sends past events, then makes the client live without leaving a gap.
func (c *client) replay(r *room) {
	since := c.Since
	for {
		before := r.known()
		past, ok := c.hub.readPast(c.UserID, since)
		if !ok || c.isEnded() {
			return
		}
		if past.Missed && !c.wait(resync) {
			return
		}
		for _, e := range past.Events {
			if !c.wait(newFrame(e)) {
				return
			}
			since = e.Seq
		}
		if past.Last < since {
			since = past.Last // no such event exists: start with the next one
			c.mu.Lock()
			c.readTo = since
			c.mu.Unlock()
		}
		if !past.more && r.goLive(c, since, before) {
			return
		}
	}
}

// resync informs the client that it has missed events. last is the latest event in the store.
func (c *client) resync(last job.Seq) {
	c.offer(resync)
	c.mu.Lock()
	c.readTo = min(c.readTo, last)
	c.mu.Unlock()
}

// lose informs the client that the events after last no longer exist, if it has received any
// of them.
func (c *client) lose(last job.Seq) {
	c.mu.Lock()
	received := c.readTo > last
	c.mu.Unlock()
	if received {
		c.resync(last)
	}
}

// offer queues a frame without blocking. It disconnects a client with a full queue.
func (c *client) offer(f *frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.wants(f) {
		return
	}
	if c.isFull(f, 1) {
		c.hub.log.Info("slow WebSocket client disconnected", "userId", c.UserID, "code", CloseSlow)
		c.endLocked(CloseSlow, "too slow, resume with since")
		return
	}
	c.push(f)
}

// reads reports whether the client wants the text of a job while Claude writes it.
func (c *client) reads(id job.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reading[id] && !c.muted[id]
}

// isFull reports whether a frame does not fit into a part of the queue, of which the share is the divisor.
// c.mu is held.
func (c *client) isFull(f *frame, share int) bool {
	limits := &c.hub.opts
	return len(c.queue) >= max(1, limits.QueueLimit/share) || len(c.queue) > 0 && c.queued+len(f.bytes) > limits.QueueBytes/share
}

// textShare is the share of the queue that text may fill: at 4, a client loses text once its
// queue is a quarter full.
const textShare = 4

// offerText queues a piece of text, or drops it if the client reads slowly. The text also
// arrives later as a message.
func (c *client) offerText(f *frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended && !c.isFull(f, textShare) {
		c.push(f)
	}
}

// readText turns on the text of a job and sends what Claude has written so far.
func (c *client) readText(id job.ID) {
	c.mu.Lock()
	if c.reading == nil {
		c.reading = map[job.ID]bool{}
	}
	if len(c.reading) < maxChosen {
		c.reading[id] = true
	}
	c.mu.Unlock()
	c.hub.replay(func() {
		soFar, err := c.hub.store.Events.TextSoFar(c.hub.ctx, id)
		if err == nil && soFar != nil && soFar.UserID == c.UserID {
			c.offerText(&frame{requestID: id, bytes: encode(websocket.TextMessage, soFar.Frame)})
		}
	})
}

// wait queues a frame, blocking until there is room. It returns false if the client has ended.
func (c *client) wait(f *frame) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.ended && c.isFull(f, 1) {
		c.space.Wait()
	}
	if c.wants(f) {
		c.push(f)
	}
	return !c.ended
}

// wants reports whether to queue a frame, and records how far the client has read. c.mu is
// held.
func (c *client) wants(f *frame) bool {
	if c.ended || f.seq != 0 && f.seq <= c.readTo {
		return false
	}
	if f.seq == 0 {
		return true
	}
	c.readTo = f.seq
	return !c.muted[f.requestID] && (c.only == nil || c.only[f.requestID])
}

// push queues a frame and starts a writer if none is running, so that an idle connection needs
// no second goroutine. c.mu is held.
func (c *client) push(f *frame) {
	c.queue = append(c.queue, f)
	c.queued += len(f.bytes)
	if !c.writing {
		c.writing = true
		go c.write()
	}
}

func (c *client) write() {
	written := 0
	for {
		c.mu.Lock()
		c.queued -= written
		frames, last := c.queue, c.ended
		c.queue, written = nil, c.queued
		if len(frames) == 0 {
			c.writing = false
			c.mu.Unlock()
			if last {
				c.hangUp()
			}
			return
		}
		if !last { // otherwise endLocked has set it
			_ = c.net.SetWriteDeadline(time.Now().Add(c.hub.opts.WriteTimeout))
		}
		c.space.Broadcast()
		c.mu.Unlock()
		err := writeFrames(c.net, frames)
		if err != nil {
			c.end(websocket.CloseAbnormalClosure, "")
		} else if last {
			// Anything that the client still sends, such as a pong, would hit a closed socket and trigger a reset, and
			// it would lose what it has not read yet, including the close reason.
			select {
			case <-c.silent:
			case <-time.After(c.patience()):
			}
		}
	}
}

// checkLife disconnects a client from which nothing has arrived for too long.
func (c *client) checkLife() {
	if sinceStart()-time.Duration(c.lastFrame.Load()) > c.hub.opts.DeadAfter {
		c.end(websocket.CloseAbnormalClosure, "")
	}
}

func (c *client) hangUp() {
	_ = c.net.Close()
	c.wake()
}

func (c *client) end(code CloseCode, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(code, reason)
}

func (c *client) endLocked(code CloseCode, reason string) {
	if c.ended {
		return
	}
	c.ended = true
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.queue = nil
	c.space.Broadcast()
	if code == websocket.CloseAbnormalClosure {
		c.hangUp()
		return
	}
	c.slow = code == CloseSlow
	_ = c.net.SetWriteDeadline(time.Now().Add(c.patience())) // also bounds a write that is stuck
	c.push(&frame{bytes: encode(websocket.CloseMessage, websocket.FormatCloseMessage(int(code), reason))})
}

// patience returns how long a client may take to read the close frame and close its side. A
// slow client may still catch up.
func (c *client) patience() time.Duration {
	if c.slow {
		return c.hub.opts.WriteTimeout
	}
	return time.Second
}

// checkCredential ends the connection if its credential is no longer valid. Otherwise it
// schedules a check for when the credential expires.
func (c *client) checkCredential() {
	if c.Until == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	until, ok := c.Until()
	if !ok {
		reason := "the token or key has expired, connect with a new one"
		if until.IsZero() {
			reason = "the key was removed, connect with another one"
		}
		c.endLocked(CloseUnauthorized, reason)
		return
	}
	if c.expiry != nil {
		c.expiry.Stop()
		c.expiry = nil
	}
	if !until.IsZero() {
		c.expiry = time.AfterFunc(time.Until(until), c.checkCredential)
	}
}

func (c *client) isEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}
