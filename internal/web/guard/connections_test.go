package guard

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"ringback/test/must"
)

// door is a listener that the test feeds with connections.
type door chan net.Conn

func (d door) Accept() (net.Conn, error) {
	if c, ok := <-d; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (d door) Close() error   { return nil }
func (d door) Addr() net.Addr { return nil }

// enters sends a connection to a listener, and returns the client's end once the connection
// was accepted, rejected, or has waited for a while.
func (d door) enters(t *testing.T, l net.Listener) (client net.Conn, in chan net.Conn) {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close() })
	in = make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		in <- c
	}()
	d <- server
	synctest.Wait()
	return client, in
}

// isClosed reports whether the other end has closed a connection.
func isClosed(client net.Conn) bool {
	_ = client.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := client.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// Over the limit, a connection gets its grace period before it is closed for another one,
// even under load.
func TestAConnectionHasAMomentForItsRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		table, api := NewConnections(Budget{Connections: 2, Calls: 1}), make(door)
		l := table.Listener(api)
		first, _ := api.enters(t, l)
		second, _ := api.enters(t, l)
		_, third := api.enters(t, l)
		if len(third) > 0 || isClosed(first) || isClosed(second) {
			t.Fatal("a third connection was let in at once")
		}
		time.Sleep(gracePeriod)
		synctest.Wait()
		if len(third) != 1 || !isClosed(first) || isClosed(second) {
			t.Errorf("a moment later: let in %d, the first is closed: %t, the second: %t", len(third), isClosed(first), isClosed(second))
		}
		if s := table.Stats(); s.Open != 2 || s.Shed != 1 {
			t.Errorf("counted are %+v", s)
		}
	})
}

// Many connections to the API do not cost a callback its connection, and callbacks displace
// them.
func TestNoCallbackGoesForACallOfTheAPI(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		table, api, own := NewConnections(Budget{Connections: 2, Calls: 1, Callbacks: 2}), make(door), make(door)
		public, callbacks := table.Listener(api), table.CallbackListener(own)
		report, _ := own.enters(t, callbacks)
		call, _ := api.enters(t, public)
		time.Sleep(time.Hour)
		_, another := api.enters(t, public)
		if len(another) != 1 || !isClosed(call) || isClosed(report) {
			t.Fatalf("another call: let in %d, the first is closed: %t, the callback: %t", len(another), isClosed(call), isClosed(report))
		}
		time.Sleep(time.Hour)
		_, second := own.enters(t, callbacks)
		if len(second) != 1 || isClosed(report) {
			t.Fatalf("a second callback: let in %d, the first is closed: %t", len(second), isClosed(report))
		}
		defer close(api) // its listener waits for another connection
		turnedAway, _ := api.enters(t, public)
		if !isClosed(turnedAway) || isClosed(report) {
			t.Errorf("a call where only callbacks are: turned away %t, a callback is closed: %t", isClosed(turnedAway), isClosed(report))
		}
		time.Sleep(time.Hour)
		if _, third := own.enters(t, callbacks); len(third) != 1 || !isClosed(report) {
			t.Errorf("a third callback: let in %d, the first is closed: %t", len(third), isClosed(report))
		}
	})
}

// However many connections the jobs of all workers open at their doors, idle or not, the API has room.
func TestTheDoorsOfJobsLeaveRoomForTheAPI(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ descriptors, workers int }{{192, 2}, {256, 2}, {1024, 4}, {1024, 16}, {4096, 8}} {
		b := DivideDescriptors(size.descriptors, size.workers, 0)
		if doors := 3 * b.Door * size.workers; doors > b.Connections/2 || b.Door < leastAtDoor {
			t.Errorf("with %+v, jobs may keep %d of %d connections", size, doors, b.Connections)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		table, api := NewConnections(Budget{Connections: 8, Calls: 1, Callbacks: 3, Door: 3}), make(door)
		for _, listen := range []func(net.Listener) net.Listener{table.DoorListener, table.TunnelListener} {
			room := make(door, 1)
			l := listen(room)
			defer func() { _ = l.Close(); close(room) }()
			for range 3 {
				room.enters(t, l)
			}
			if _, fourth := room.enters(t, l); len(fourth) > 0 {
				t.Error("a fourth connection of a job was accepted")
			}
		}
		time.Sleep(time.Hour)
		public := table.Listener(api)
		for range 4 { // the longest-waiting ones are closed for the others
			if _, in := api.enters(t, public); len(in) != 1 {
				t.Error("the API accepted no connection")
			}
			time.Sleep(time.Hour)
		}
		if got, want := table.Stats(), (Stats{Open: 8, Limit: 8, Shed: 2}); got != want {
			t.Errorf("counted %+v, want %+v", got, want)
		}
	})
}

// A crowd that sends nothing to one listener does not keep another one from accepting, or from having its
// share; and the connections that wait there the longest are closed.
func TestACrowdAtOneListenerLeavesTheOthersOpen(t *testing.T) {
	t.Parallel()
	for name, crowded := range map[string]struct{ atAPI, atCallbacks int }{
		"at the callbacks":                      {0, 16},
		"at the callbacks, with calls that end": {4, 12},
		"at the API":                            {16, 0},
		"at both":                               {8, 8},
	} {
		synctest.Test(t, func(t *testing.T) {
			table, api, own := NewConnections(Budget{Connections: 16, Calls: 4, Callbacks: 4}), make(door), make(door)
			public, callbacks := table.Listener(api), table.CallbackListener(own)
			for range crowded.atAPI {
				api.enters(t, public)
			}
			for range crowded.atCallbacks {
				own.enters(t, callbacks)
			}
			time.Sleep(time.Hour)
			var calls, reports []net.Conn
			for i := range 4 {
				call, in := api.enters(t, public)
				report, also := own.enters(t, callbacks)
				if len(in) != 1 || len(also) != 1 {
					t.Fatalf("%s: of connections %d, %d to the API and %d to the callbacks were accepted", name, i, len(in), len(also))
				}
				calls, reports = append(calls, call), append(reports, report)
			}
			for i := range calls {
				if isClosed(calls[i]) || isClosed(reports[i]) {
					t.Errorf("%s: connection %d was closed though others waited longer", name, i)
				}
			}
			if open := table.Stats().Open; open != 16 {
				t.Errorf("%s: %d are open, want 16", name, open)
			}
		})
	}
}

// Tunnels, which are never closed for another connection, leave half of the connections to the others,
// however many jobs have some.
func TestTunnelsLeaveRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		table, api := NewConnections(Budget{Connections: 8, Calls: 1, Door: 4}), make(door)
		var accepted int
		for range 3 {
			room := make(door, 1)
			l := table.TunnelListener(room)
			defer close(room)
			for range 4 {
				_, in := room.enters(t, l)
				accepted += len(in)
			}
		}
		must.Equal(t, 4, accepted, "tunnels")
		if _, in := api.enters(t, table.Listener(api)); len(in) != 1 {
			t.Error("the API accepted no connection")
		}
	})
}
