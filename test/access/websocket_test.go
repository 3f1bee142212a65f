package access

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/test/must"
	"ringback/test/rig"
)

func TestReplayHasNoGapAndNoDuplicate(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		n := rig.Start(t, env)
		id, envelope := n.Manual(t, object{"userId": "u1"})
		const count = 600 // more than one page of the replay
		report := func(from, to int) {
			for i := from; i < to; i++ {
				n.Want(t, 200, "POST", "/api/claude/progress", rig.With(envelope, object{"message": strconv.Itoa(i)}))
			}
		}
		report(0, count/2)
		done := make(chan struct{})
		go func() { // events continue while the clients read past ones
			defer close(done)
			report(count/2, count)
		}()
		first := n.Listen(t, "userId=u1&since=0")
		var all []object
		for len(all) < 100 {
			all = append(all, first.Next())
		}
		first.Conn.Close()
		second := n.Listen(t, "userId=u1&since="+all[99]["id"].(string))
		<-done
		n.Want(t, 200, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
		all = append(all, second.Until("recipes:suggestions:received")...)
		var messages, want []string
		for i, f := range all {
			if i > 0 && f["id"].(string) <= all[i-1]["id"].(string) {
				t.Fatalf("event %v follows %v", f["id"], all[i-1]["id"])
			}
			if message, ok := f["data"].(object)["message"].(string); ok {
				messages = append(messages, message)
			}
		}
		for i := range count {
			want = append(want, strconv.Itoa(i))
		}
		must.Equal(t, want, messages)
		stored := n.StoredEvents(t, id, "?since="+all[len(all)-2]["id"].(string))
		if len(stored) != 1 || stored[0]["event"] != "recipes:suggestions:received" {
			t.Errorf("the events after the last but one are %v", stored)
		}
	})
}

func TestEventsReachClientsOfAnotherNode(t *testing.T) {
	t.Parallel()
	redis := rig.StartRedis(t).URL
	one := rig.Start(t, vars{"REDIS_URL": redis})
	two := rig.Start(t, vars{"REDIS_URL": redis}, "--role", "api")
	events := two.Listen(t, "userId=u1")
	_, envelope := one.Manual(t, object{"userId": "u1"})
	two.Want(t, 200, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
	if got := rig.EventNames(events.Until("recipes:suggestions:received")); len(got) != 3 {
		t.Errorf("events are %v", got)
	}
}

func TestListeningToOneJob(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{})
	_, a := n.Manual(t, object{"userId": "u1"})
	_, b := n.Manual(t, object{"userId": "u1"})
	events := n.Listen(t, "userId=u1&requestId="+a["requestId"].(string))
	say := func(envelope object, message string) {
		n.Want(t, 200, "POST", "/api/claude/progress", rig.With(envelope, object{"message": message}))
	}
	send := func(frame object) object {
		must.OK(t, events.Conn.WriteJSON(frame))
		return events.Next()
	}
	say(b, "not wanted")
	say(a, "wanted")
	must.Equal(t, "wanted", events.Next()["data"].(object)["message"], "heard")
	if ack := send(object{"type": "subscribe", "requestId": b["requestId"]}); ack["type"] != "ack" {
		t.Errorf("subscribe was answered %v", ack)
	}
	say(b, "now wanted")
	must.Equal(t, "now wanted", events.Next()["data"].(object)["message"], "heard")
	send(object{"type": "unsubscribe", "requestId": a["requestId"]})
	say(a, "no longer wanted")
	say(b, "still wanted")
	must.Equal(t, "still wanted", events.Next()["data"].(object)["message"], "heard")
	if pong := send(object{"type": "ping"}); pong["type"] != "pong" {
		t.Errorf("ping was answered %v", pong)
	}
	if wrong := send(object{"type": "dance"}); wrong["type"] != "error" || !strings.Contains(wrong["hint"].(string), "ping") {
		t.Errorf("an unknown frame was answered %v", wrong)
	}
}

func TestSlowClientIsCutOffAndNobodyElseNotices(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{})
	dialer := websocket.Dialer{NetDial: func(network, addr string) (net.Conn, error) {
		conn, err := net.Dial(network, addr)
		if err == nil { // fills soon with unread data
			err = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		return conn, err
	}}
	slow, resp, err := dialer.Dial("ws"+strings.TrimPrefix(n.URL, "http")+"/ws?userId=u1", nil)
	must.OK(t, err)
	resp.Body.Close()
	defer slow.Close() // it does not read until the end
	fast := n.Listen(t, "userId=u1")
	// The server keeps 8 MiB for a client, and the system some more.
	long := strings.Repeat("x", 60_000)
	for i := range 500 {
		n.Want(t, 200, "POST", "/from-llm", object{"sessionId": "s1", "userId": "u1", "content": fmt.Sprint(i, " ", long)})
		if got := fmt.Sprint(fast.Message("NEW_MESSAGE")["message"].(object)["content"]); !strings.HasPrefix(got, fmt.Sprint(i, " ")) {
			t.Fatalf("after message %d the fast client heard %.10s", i, got)
		}
		if strings.Contains(n.Log.String(), "slow WebSocket client") {
			break
		}
	}
	_ = slow.SetReadDeadline(time.Now().Add(must.Patience))
	for err == nil {
		_, _, err = slow.ReadMessage()
	}
	if !websocket.IsCloseError(err, 4008) {
		t.Errorf("the slow client ended with %v, want 4008", err)
	}
}

func TestServerThatStopsTellsClientsToReconnect(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{})
	events := n.Listen(t, "userId=u1")
	_ = n.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-events.Closed:
		if !websocket.IsCloseError(err, websocket.CloseServiceRestart) {
			t.Errorf("closed with %v, want 1012", err)
		}
	case <-time.After(must.Patience):
		t.Error("the connection stayed open")
	}
}
