package hub

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
)

// client is one WebSocket connection.
type client struct {
	hub *Hub
	Request
	// conn is only read from. Writes go directly to net, whole frames at a time.
	conn *websocket.Conn
	net  net.Conn

	// silent is closed when the read loop ends.
	silent chan struct{}

	mu      sync.Mutex
	space   *sync.Cond // signalled when the queue shrinks or the client ends
	queue   []*frame
	writing bool
	// ended is set when the connection is about to close. A close frame with the reason is
	// then the last frame.
	ended bool
	// slow is true if the connection ends because the client reads too slowly.
	slow bool
	// readTo is the latest event that was queued.
	readTo job.Seq
	// only holds the jobs whose events the client wants, or is nil for all jobs. muted holds
	// the jobs it has unsubscribed from.
	only, muted map[job.ID]bool
	// reading holds the jobs whose text the client wants while Claude writes it.
	reading map[job.ID]bool
	// expiry is the timer for the next check of the credential.
	expiry *time.Timer
}

// Request describes what a client subscribes to.
type Request struct {
	// UserID is the user whose events are sent.
	UserID string
	// All selects new events of all users; UserID is then ignored.
	All bool
	// Address is the client's address.
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
	// Reply handles a reply to a checkpoint that the client sends.
	Reply ReplyFunc
	// MayFollow returns an error if the client may not follow a job.
	MayFollow MayFollowFunc
}

// MayFollowFunc returns an error if a client may not follow a job.
type MayFollowFunc func(ctx context.Context, id job.ID) error

// UntilFunc returns the current expiry time of a credential, or zero if it does not expire. ok
// is false once the credential is no longer valid.
type UntilFunc func() (until time.Time, ok bool)

// ReplyFunc handles the frame of a user's reply to a checkpoint and returns the updated
// checkpoint.
type ReplyFunc func(ctx context.Context, frame json.RawMessage) (job.Checkpoint, error)

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
		past, err := h.store.Events(r.Context(), want.UserID, math.MaxInt64, 1)
		if err != nil {
			return err
		}
		want.Since = past.Last
	}
	conn, err := upgrade(w, r)
	if conn == nil {
		return err
	}
	served = true
	c := &client{hub: h, Request: want, conn: conn, net: conn.NetConn(), readTo: want.Since, silent: make(chan struct{})}
	c.space = sync.NewCond(&c.mu)
	if want.RequestID != "" {
		c.only = map[job.ID]bool{want.RequestID: true}
	}
	room := h.join(c)
	c.checkCredential() // from here on CheckCredentials finds the client
	if h.ctx.Err() != nil {
		c.end(CloseRestart, "the server restarts, connect again")
	}
	h.replay(func() {
		if !want.All {
			c.replay(room)
		}
		if want.Text { // replays the text written so far
			c.readText(want.RequestID)
		}
	})
	go c.read(h.ctx, room) //nolint:contextcheck // the connection outlives the request
	return nil
}

// upgrade turns a request into a WebSocket, whatever its Origin. It returns nil and no error
// if the connection is gone.
func upgrade(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	upgrader := websocket.Upgrader{
		CheckOrigin:    func(*http.Request) bool { return true },
		ReadBufferSize: 256, WriteBufferPool: &noBuffers,
		Subprotocols: []string{Subprotocol}, Error: func(http.ResponseWriter, *http.Request, int, error) {},
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err == nil {
		return conn, nil
	}
	if _, ok := errors.AsType[websocket.HandshakeError](err); ok {
		return nil, job.Errorf(job.Invalid, "This is a WebSocket endpoint").WithHint("%s", err.Error())
	}
	return nil, nil
}

// replay sends past events, then makes the client live without leaving a gap.
func (c *client) replay(r *room) {
	since := c.Since
	for {
		_, newest := r.read()
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
			c.setReadTo(since)
		}
		if len(past.Events) < replayPage && r.goLive(c, since, newest) {
			return
		}
	}
}

func (c *client) setReadTo(seq job.Seq) {
	c.mu.Lock()
	c.readTo = seq
	c.mu.Unlock()
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
	heard := c.readTo > last
	c.mu.Unlock()
	if heard {
		c.resync(last)
	}
}

// offer queues a frame without blocking. It disconnects a client whose queue is full.
func (c *client) offer(f *frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.wants(f) {
		return
	}
	if len(c.queue) >= c.hub.opts.QueueLimit {
		c.hub.log.Info("cut off a slow WebSocket client", "userId", c.UserID, "code", CloseSlow)
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

// textShare is the divisor of QueueLimit above which text is dropped: at 4, a client loses
// text once its queue is a quarter full.
const textShare = 4

// offerText queues a piece of text, or drops it if the client reads slowly. The text also
// arrives later as a message.
func (c *client) offerText(f *frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended && len(c.queue) < max(1, c.hub.opts.QueueLimit/textShare) {
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
		soFar, err := c.hub.store.TextSoFar(c.hub.ctx, id)
		if err == nil && soFar != nil && soFar.UserID == c.UserID {
			c.offerText(&frame{requestID: id, bytes: encode(websocket.TextMessage, soFar.Frame)})
		}
	})
}

// wait queues a frame, blocking until there is room. It returns false if the client has ended.
func (c *client) wait(f *frame) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.ended && len(c.queue) >= c.hub.opts.QueueLimit {
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
	if !c.writing {
		c.writing = true
		go c.write()
	}
}

// mostSpare is the capacity up to which a queue is used again.
const mostSpare = 4

func (c *client) write() {
	var spare []*frame
	for {
		c.mu.Lock()
		frames, last := c.queue, c.ended
		c.queue = spare
		if len(frames) == 0 {
			c.writing = false
			c.mu.Unlock()
			if last {
				_ = c.net.Close()
			}
			return
		}
		if !last { // otherwise endLocked has set it
			_ = c.net.SetWriteDeadline(time.Now().Add(c.hub.opts.WriteTimeout))
		}
		c.space.Broadcast()
		c.mu.Unlock()
		err := writeFrames(c.net, frames)
		clear(frames)
		if spare = nil; cap(frames) <= mostSpare {
			spare = frames[:0]
		}
		if err != nil {
			c.end(websocket.CloseAbnormalClosure, "")
		} else if last {
			c.awaitSilence()
		}
	}
}

// awaitSilence waits until the client has closed its side after the close frame. Anything it
// still sends, such as a pong, would hit a closed socket and trigger a reset, and the client
// would lose what it has not read yet, including the close reason.
func (c *client) awaitSilence() {
	select {
	case <-c.silent:
	case <-time.After(c.patience()):
	}
}

func (c *client) ping() { c.offer(pinger) }

// end closes the connection with a reason.
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
		_ = c.net.Close()
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

// read handles the frames that the client sends until the connection ends.
func (c *client) read(ctx context.Context, r *room) {
	defer c.hub.admission.leave(c.UserID, c.Address)
	defer c.hub.leave(r, c)
	defer c.end(websocket.CloseNormalClosure, "")
	defer close(c.silent)
	c.conn.SetReadLimit(64 << 10)
	alive := func(string) error { return c.conn.SetReadDeadline(time.Now().Add(c.hub.opts.DeadAfter)) }
	c.conn.SetPongHandler(alive)
	c.conn.SetPingHandler(func(data string) error {
		c.offer(&frame{bytes: encode(websocket.PongMessage, data)})
		return alive("")
	})
	c.conn.SetCloseHandler(func(code int, _ string) error {
		c.end(CloseCode(code), "")
		return nil
	})
	for alive("") == nil {
		kind, text, err := c.conn.ReadMessage()
		if err != nil {
			return
		}
		if kind == websocket.TextMessage {
			c.answer(ctx, text)
		}
	}
}

// incoming is a frame from a client.
type incoming struct {
	Type         string           `json:"type"`
	RequestID    job.ID           `json:"requestId"`
	CheckpointID job.CheckpointID `json:"checkpointId"`
	// Text is a bool in a subscribe frame: true if the client wants the text of the job while
	// Claude writes it. In a reply, Text is what the person writes.
	Text any `json:"text"`
}

// outgoing answers a client's frame.
type outgoing struct {
	Type string `json:"type"`
	// For is the type of the frame being answered.
	For string `json:"for,omitempty"`
	// RequestID and CheckpointID are copied from that frame.
	RequestID    job.ID           `json:"requestId,omitempty"`
	CheckpointID job.CheckpointID `json:"checkpointId,omitempty"`
	// Checkpoint is the checkpoint after the reply.
	Checkpoint *job.Checkpoint `json:"checkpoint,omitempty"`
	Error      string          `json:"error,omitempty"`
	Details    []job.Detail    `json:"details,omitempty"`
	Hint       string          `json:"hint,omitempty"`
}

func (c *client) answer(ctx context.Context, text []byte) {
	reply, err := json.Marshal(c.handle(ctx, text))
	if err == nil {
		c.offer(&frame{bytes: encode(websocket.TextMessage, reply)})
	}
}

func (c *client) handle(ctx context.Context, text []byte) outgoing {
	var in incoming
	if err := json.Unmarshal(text, &in); err != nil {
		return outgoing{Type: "error", Error: "Malformed frame", Hint: `Send a JSON object such as {"type":"ping"}.`}
	}
	switch in.Type {
	case "ping":
		return outgoing{Type: "pong"}
	case "subscribe", "unsubscribe":
		if in.RequestID == "" {
			return outgoing{Type: "error", For: in.Type, Error: "requestId is required but missing"}
		}
		withText, isBool := in.Text.(bool)
		if in.Text != nil && !isBool {
			return outgoing{Type: "error", For: in.Type, Error: "text must be true or false"}
		}
		if in.Type == "subscribe" {
			ctx, cancel := context.WithTimeout(ctx, replyTimeout)
			defer cancel()
			if err := c.MayFollow(ctx, in.RequestID); err != nil {
				return c.refusal(outgoing{For: in.Type, RequestID: in.RequestID}, err)
			}
		}
		c.choose(in.RequestID, in.Type == "subscribe")
		if withText && in.Type == "subscribe" {
			c.readText(in.RequestID)
		}
		return outgoing{Type: "ack", For: in.Type, RequestID: in.RequestID}
	case "reply":
		return c.handleReply(ctx, in.CheckpointID, text)
	}
	return outgoing{
		Type: "error", For: in.Type, Error: "Unknown frame type", Hint: "Known are ping, reply, subscribe and unsubscribe.",
	}
}

// replyTimeout bounds how long a client's next frame waits for its reply.
const replyTimeout = 10 * time.Second

// handleReply handles a reply to a checkpoint and returns an ack or an error frame.
func (c *client) handleReply(ctx context.Context, id job.CheckpointID, frame []byte) outgoing {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	after, err := c.Reply(ctx, frame)
	if err == nil {
		return outgoing{Type: "ack", For: "reply", CheckpointID: id, Checkpoint: &after}
	}
	return c.refusal(outgoing{For: "reply", CheckpointID: id}, err)
}

// refusal turns the answer to a frame into an error frame.
func (c *client) refusal(out outgoing, err error) outgoing {
	out.Type, out.Error, out.Hint = "error", "The frame could not be handled", "Send it again."
	if e, ok := errors.AsType[*job.Error](err); ok {
		out.Error, out.Details, out.Hint = e.Message, e.Details, e.Hint
	} else {
		c.hub.log.Error("handling a frame", "type", out.For, "requestId", out.RequestID, "checkpointId", out.CheckpointID, "error", err)
	}
	return out
}

// choose turns the events of one job on or off.
func (c *client) choose(id job.ID, on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if on {
		delete(c.muted, id)
		if c.only != nil && len(c.only) < maxChosen {
			c.only[id] = true
		}
		return
	}
	delete(c.only, id)
	delete(c.reading, id)
	if c.muted == nil {
		c.muted = map[job.ID]bool{}
	}
	if len(c.muted) < maxChosen {
		c.muted[id] = true
	}
}

// maxChosen bounds how many jobs the server remembers for one client.
const maxChosen = 1000
