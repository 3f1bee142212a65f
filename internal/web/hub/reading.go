package hub

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
)

// readBuffer is the size of a client's read buffer: as small as the library accepts, and large
// enough for any control frame.
const readBuffer = 288

// hijacker gives the library a small read buffer that we know.
type hijacker struct {
	http.ResponseWriter
	in *bufio.Reader
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, both, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err == nil && both.Reader.Buffered() == 0 { // otherwise the library refuses it
		h.in = bufio.NewReaderSize(conn, readBuffer)
		both.Reader = h.in
	}
	return conn, both, err
}

// upgrade turns a request into a WebSocket, whatever its Origin, and returns it with its read
// buffer. It returns nil and no error if the connection is gone.
func upgrade(w http.ResponseWriter, r *http.Request) (*websocket.Conn, *bufio.Reader, error) {
	upgrader := websocket.Upgrader{
		CheckOrigin:     func(*http.Request) bool { return true },
		WriteBufferPool: &noBuffers,
		Subprotocols:    []string{Subprotocol}, Error: func(http.ResponseWriter, *http.Request, int, error) {},
	}
	h := &hijacker{ResponseWriter: w}
	const id = "X-Request-Id" // the library does not send the headers of the answer
	conn, err := upgrader.Upgrade(h, r, http.Header{id: w.Header()[id]})
	if err == nil {
		return conn, h.in, nil
	}
	if _, ok := errors.AsType[websocket.HandshakeError](err); ok {
		return nil, nil, job.Errorf(job.Invalid, "This is a WebSocket endpoint").WithHint("%s", err.Error())
	}
	return nil, nil, nil
}

// prepare limits messages, and sets what the library does with control frames within them.
func (c *client) prepare() {
	c.conn.SetReadLimit(64 << 10)
	c.conn.SetPongHandler(func(string) error {
		c.noteFrame()
		return nil
	})
	c.conn.SetPingHandler(func(data string) error {
		c.noteFrame()
		c.pong(data)
		return nil
	})
	c.conn.SetCloseHandler(func(code int, _ string) error {
		c.end(CloseCode(code), "")
		return nil
	})
}

// read handles the frames that have arrived. It returns when there are no more for now, or when
// the connection ends.
func (c *client) read() {
	for {
		if err := c.readOne(); err != nil {
			c.left()
			return
		}
		c.noteFrame()
		if c.in.Buffered() == 0 && c.await() {
			return
		}
	}
}

// left is called once nothing more can be read from the connection.
func (c *client) left() {
	close(c.silent)
	c.end(websocket.CloseNormalClosure, "")
	c.hub.leave(c.room, c)
	c.hub.admission.leave(c.UserID, c.Address)
}

// readOne handles a message or a control frame. What a client sends without a valid credential, or after its
// end, is discarded.
func (c *client) readOne() error {
	if isControl, err := c.control(); isControl || err != nil {
		return err
	}
	kind, text, err := c.conn.ReadMessage()
	if err != nil || kind != websocket.TextMessage {
		return err
	}
	if c.checkCredential(); !c.isEnded() {
		c.answer(c.hub.ctx, text)
	}
	return nil
}

// Parts of a frame (RFC 6455, section 5.2).
const (
	final          = 1 << 7 // of the first byte
	masked         = 1 << 7 // of the second byte
	maxControlSize = 125
	controlHeader  = 2 + 4 // with the mask
)

// control handles a ping or a pong, if one comes next: most clients send nothing else. The library
// would handle it, and then wait for the next message.
func (c *client) control() (bool, error) {
	head, err := c.in.Peek(2)
	if err != nil {
		return false, err
	}
	kind, size := head[0], int(head[1]&^masked)
	isPing, isPong := kind == final|websocket.PingMessage, kind == final|websocket.PongMessage
	if !isPing && !isPong || head[1]&masked == 0 || size > maxControlSize {
		return false, nil
	}
	whole, err := c.in.Peek(controlHeader + size)
	if err != nil {
		return false, err
	}
	if isPing {
		mask, data := whole[2:controlHeader], slices.Clone(whole[controlHeader:])
		for i := range data {
			data[i] ^= mask[i%len(mask)]
		}
		c.pong(string(data))
	}
	_, err = c.in.Discard(len(whole))
	return true, err
}

func (c *client) pong(data string) { c.offer(&frame{bytes: encode(websocket.PongMessage, data)}) }

// noteFrame records that a frame has arrived.
func (c *client) noteFrame() { c.lastFrame.Store(int64(sinceStart())) }

// started is the origin of sinceStart.
var started = time.Now()

// sinceStart returns a time that no change of the clock affects.
func sinceStart() time.Duration { return time.Since(started) }

// incoming is a frame from a client.
type incoming struct {
	Type         string           `json:"type"`
	RequestID    job.ID           `json:"requestId"`
	CheckpointID job.CheckpointID `json:"checkpointId"`
	// Text is a bool in a subscribe frame: true if the client wants the text of the job while
	// Claude writes it. In a reply, Text is what the person writes.
	Text any `json:"text"`
}

// FrameAnswer answers a client's frame.
type FrameAnswer struct {
	Type string `json:"type"`
	// For is the type of the frame being answered.
	For          string           `json:"for,omitempty"`
	RequestID    job.ID           `json:"requestId,omitempty"`    // The requestId of that frame.
	CheckpointID job.CheckpointID `json:"checkpointId,omitempty"` // The checkpointId of that frame.
	// Checkpoint is the checkpoint after the reply.
	Checkpoint *job.Checkpoint `json:"checkpoint,omitempty"`
	Error      string          `json:"error,omitempty"`   // Why the frame was refused; absent in an ack.
	Details    []job.Detail    `json:"details,omitempty"` // Describe each wrong field, at most 20.
	Hint       string          `json:"hint,omitempty"`    // What to do about the error.
}

func (c *client) answer(ctx context.Context, text []byte) {
	reply, err := json.Marshal(c.handle(ctx, text))
	if err == nil {
		c.offer(&frame{bytes: encode(websocket.TextMessage, reply)})
	}
}

func (c *client) handle(ctx context.Context, text []byte) FrameAnswer {
	var in incoming
	body, err := strictjson.Decode(text)
	if err == nil {
		err = strictjson.KnownInto(body, &in)
	}
	if err != nil {
		return FrameAnswer{Type: "error", Error: "Malformed frame", Hint: `Send a JSON object such as {"type":"ping"}.`}
	}
	switch in.Type {
	case "ping":
		return FrameAnswer{Type: "pong"}
	case "subscribe", "unsubscribe":
		if in.RequestID == "" {
			return FrameAnswer{Type: "error", For: in.Type, Error: "requestId is required but missing"}
		}
		withText, isBool := in.Text.(bool)
		if in.Text != nil && !isBool {
			return FrameAnswer{Type: "error", For: in.Type, Error: "text must be true or false"}
		}
		if in.Type == "subscribe" {
			ctx, cancel := context.WithTimeout(ctx, replyTimeout)
			defer cancel()
			if err := c.MayFollow(ctx, in.RequestID); err != nil {
				return c.refusal(FrameAnswer{For: in.Type, RequestID: in.RequestID}, err)
			}
		}
		c.choose(in.RequestID, in.Type == "subscribe", withText)
		if withText && in.Type == "subscribe" {
			c.readText(in.RequestID)
		}
		return FrameAnswer{Type: "ack", For: in.Type, RequestID: in.RequestID}
	case "reply":
		return c.handleReply(ctx, in.CheckpointID, body)
	}
	return FrameAnswer{
		Type: "error", For: in.Type, Error: "Unknown frame type", Hint: "Known are ping, reply, subscribe and unsubscribe.",
	}
}

// replyTimeout bounds how long a client's next frame waits for its reply.
const replyTimeout = 10 * time.Second

// handleReply handles a reply to a checkpoint and returns an ack or an error frame.
func (c *client) handleReply(ctx context.Context, id job.CheckpointID, body map[string]any) FrameAnswer {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	delete(body, "checkpointId")
	delete(body, "type")
	after, err := c.Reply(ctx, id, body)
	if err == nil {
		return FrameAnswer{Type: "ack", For: "reply", CheckpointID: id, Checkpoint: &after}
	}
	return c.refusal(FrameAnswer{For: "reply", CheckpointID: id}, err)
}

// refusal turns the answer to a frame into an error frame.
func (c *client) refusal(out FrameAnswer, err error) FrameAnswer {
	out.Type, out.Error, out.Hint = "error", "The frame could not be handled", "Send it again."
	if e, ok := errors.AsType[*job.Error](err); ok {
		out.Error, out.Details, out.Hint = e.Message, e.Details, e.Hint
	} else {
		c.hub.log.Error("frame failed", "type", out.For, "requestId", out.RequestID, "checkpointId", out.CheckpointID, "error", err)
	}
	return out
}

// choose turns the events of one job on, or its text and, unless onlyText is set, its events off.
func (c *client) choose(id job.ID, on, onlyText bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if on {
		delete(c.muted, id)
		if c.only != nil && len(c.only) < maxChosen {
			c.only[id] = true
		}
		return
	}
	delete(c.reading, id)
	if onlyText {
		return
	}
	delete(c.only, id)
	if c.muted == nil {
		c.muted = map[job.ID]bool{}
	}
	if len(c.muted) < maxChosen {
		c.muted[id] = true
	}
}

// maxChosen bounds how many jobs the server remembers for one client.
const maxChosen = 1000
