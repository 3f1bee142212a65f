package hub_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
	"ringback/internal/web/hub"
	"ringback/test/must"
)

// raw is a frame of a client (RFC 6455).
func raw(first byte, payload string) []byte {
	mask := [4]byte{byte(rand.Uint32()), byte(rand.Uint32()), byte(rand.Uint32()), byte(rand.Uint32())}
	frame := []byte{first}
	if len(payload) < 126 {
		frame = append(frame, 1<<7|byte(len(payload)))
	} else {
		frame = binary.BigEndian.AppendUint16(append(frame, 1<<7|126), uint16(len(payload)))
	}
	frame = append(frame, mask[:]...)
	for i := range len(payload) {
		frame = append(frame, payload[i]^mask[i%4])
	}
	return frame
}

const whole = 1 << 7

// Frames are handled in order, in whatever pieces they arrive: several at once, byte by byte, with
// control frames before, between and within messages.
func TestFramesArriveInAnyPieces(t *testing.T) {
	t.Parallel()
	_, h, _ := running(t, hub.Options{})
	for range 30 {
		conn := connect(t, h, hub.Request{UserID: "u"})
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		answers := make(chan string, 100)
		conn.SetPongHandler(func(data string) error {
			answers <- "pong " + data
			return nil
		})
		go func() {
			for {
				_, text, err := conn.ReadMessage()
				if err != nil {
					close(answers)
					return
				}
				answers <- string(text)
			}
		}()
		await := func(want string) {
			t.Helper()
			if got := <-answers; !strings.Contains(got, want) {
				t.Fatalf("answered %s, want %s", got, want)
			}
		}
		var expected []string
		var bytes []byte
		for i := range 25 {
			switch n := strconv.Itoa(i); rand.IntN(6) {
			case 0:
				bytes = append(bytes, raw(whole|websocket.PongMessage, n)...)
			case 1:
				data := n + strings.Repeat("p", rand.IntN(120))
				bytes = append(bytes, raw(whole|websocket.PingMessage, data)...)
				expected = append(expected, "pong "+data)
			case 2: // with a ping and a pong within the message
				bytes = append(bytes, raw(websocket.TextMessage, `{"type":`)...)
				bytes = append(bytes, raw(whole|websocket.PongMessage, "")...)
				bytes = append(bytes, raw(whole|websocket.PingMessage, n)...)
				bytes = append(bytes, raw(whole, `"ping"}`)...)
				expected = append(expected, "pong "+n, `{"type":"pong"}`)
			default:
				bytes = append(bytes, raw(whole|websocket.TextMessage, `{"type":"unsubscribe","requestId":"`+n+`"}`+strings.Repeat(" ", rand.IntN(600)))...)
				expected = append(expected, `"requestId":"`+n+`"`)
			}
			switch rand.IntN(3) {
			case 0: // until the client is idle
				for piece := 0; len(bytes) > 0; bytes = bytes[piece:] {
					piece = min(1+rand.IntN(40), len(bytes))
					_ = must.Get(conn.NetConn().Write(bytes[:piece]))(t)
				}
				for _, one := range expected {
					await(one)
				}
				expected = nil
			case 1:
				_ = must.Get(conn.NetConn().Write(bytes))(t)
				bytes = nil
			}
		}
		_ = must.Get(conn.NetConn().Write(append(bytes, raw(whole|websocket.TextMessage, `{"type":"ping"}`)...)))(t)
		for _, one := range append(expected, `{"type":"pong"}`) {
			await(one)
		}
		_ = must.Get(conn.NetConn().Write([]byte{whole | websocket.PingMessage, 0}))(t) // without a mask
		if last, open := <-answers; open {
			t.Fatalf("a frame without a mask was answered %s", last)
		}
		conn.Close()
	}
	must.Eventually(t, "the clients to be gone", func() bool { return h.Clients() == 0 })
}

// A client from which nothing arrives is disconnected, unlike one that answers pings.
func TestASilentClientIsDisconnected(t *testing.T) {
	t.Parallel()
	_, h, _ := running(t, hub.Options{PingInterval: 20 * time.Millisecond, DeadAfter: 2 * time.Second})
	alive := connect(t, h, hub.Request{UserID: "alive"})
	texts := make(chan string)
	go func() {
		for {
			_, text, err := alive.ReadMessage() // which also answers pings
			if err != nil {
				close(texts)
				return
			}
			texts <- string(text)
		}
	}()
	for range 3 {
		connect(t, h, hub.Request{UserID: "silent"})
	}
	must.Eventually(t, "all to be connected", func() bool { return h.Clients() == 4 })
	must.Eventually(t, "the silent clients to be gone", func() bool { return h.Clients() == 1 })
	must.OK(t, alive.WriteJSON(map[string]string{"type": "ping"}))
	must.Equal(t, `{"type":"pong"}`, <-texts)
}

// A client that is told to leave and does not is disconnected.
func TestAClientThatDoesNotLeaveIsDisconnected(t *testing.T) {
	t.Parallel()
	_, h, _ := running(t, hub.Options{})
	var valid atomic.Bool
	valid.Store(true)
	connect(t, h, hub.Request{UserID: "u", Until: func() (time.Time, bool) { return time.Time{}, valid.Load() }})
	must.Eventually(t, "the client to be connected", func() bool { return h.Clients() == 1 })
	valid.Store(false)
	h.CheckCredentials()
	must.Eventually(t, "the client to be gone", func() bool { return h.Clients() == 0 })
}

// A reply does not count once the credential is no longer valid: neither before that was noticed, nor while
// the client has not left yet.
func TestAReplyWithoutACredentialDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, noticed := range map[string]bool{"before it is noticed": false, "before the client leaves": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, h, _ := running(t, hub.Options{})
			var valid atomic.Bool
			var replies atomic.Int32
			valid.Store(true)
			conn := connect(t, h, hub.Request{
				UserID: "u", Until: func() (time.Time, bool) { return time.Time{}, valid.Load() },
				Reply: func(context.Context, job.CheckpointID, map[string]any) (job.Checkpoint, error) {
					replies.Add(1)
					return job.Checkpoint{}, nil
				},
			})
			reply := map[string]string{"type": "reply", "checkpointId": "chk_1", "decision": "approve"}
			must.OK(t, conn.WriteJSON(reply))
			_, _, err := conn.ReadMessage()
			must.OK(t, err)
			valid.Store(false)
			if noticed {
				h.CheckCredentials()
			}
			conn.SetCloseHandler(func(int, string) error { return nil }) // it does not leave
			must.OK(t, conn.WriteJSON(reply))
			_, _, err = conn.ReadMessage()
			must.Equal(t, true, websocket.IsCloseError(err, int(hub.CloseUnauthorized)), err)
			must.Eventually(t, "the client to be gone", func() bool { return h.Clients() == 0 })
			must.Equal(t, int32(1), replies.Load(), "replies")
		})
	}
}

// An idle client takes no goroutine, before and after it has sent something.
func TestIdleClientsHoldNoGoroutine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux")
	}
	_, h, _ := running(t, hub.Options{})
	for range 20 {
		conn := connect(t, h, hub.Request{UserID: "u"})
		must.OK(t, conn.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second)))
		must.OK(t, conn.WriteJSON(map[string]string{"type": "ping"}))
		_, _, err := conn.ReadMessage()
		must.OK(t, err)
		must.OK(t, conn.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second)))
	}
	stacks := make([]byte, 1<<22)
	must.Eventually(t, "the clients to be idle", func() bool {
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "hub.(*client).read(")
	})
	must.Equal(t, 20, h.Clients())
}
