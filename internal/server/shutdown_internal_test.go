package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"ringback/internal/store/redisd"
	"ringback/test/must"
)

// Parts stop in the reverse order of their start, and those alone that have started.
func TestPartsStopInTheReverseOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails string // the part that does not start
		want  []string
	}{
		"all start":      {"", []string{"+store", "+check", "+servers", "+turns", "-turns", "-servers", "-store"}},
		"one fails":      {"servers", []string{"+store", "+check", "+servers", "-store"}},
		"the first does": {"store", []string{"+store"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var did []string
			var parts []part
			for _, name := range []string{"store", "check", "servers", "turns"} {
				parts = append(parts, func(context.Context) (func(), error) {
					did = append(did, "+"+name)
					switch name {
					case c.fails:
						return nil, errors.New("it does not start")
					case "check": // nothing stops it
						return nil, nil
					}
					return func() { did = append(did, "-"+name) }, nil
				})
			}
			stop, err := start(t.Context(), parts)
			must.Equal(t, c.fails != "", err != nil)
			stop()
			must.Equal(t, c.want, did)
		})
	}
}

// A node that waits for its turns stops waiting once it has lost its store, also if it is stopping already.
func TestWithoutItsStoreANodeWaitsForNoTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error)
		n := &node{db: &database{embedded: &redisd.Embedded{Failed: failed}}, opts: Options{Drain: true, DrainGrace: time.Hour, DrainTimeout: time.Hour}}
		ctx, leave := context.WithCancel(t.Context())
		stop := must.Get(n.startTurns(ctx))(t)
		leave()
		must.OK(t, n.wait(ctx))
		began := time.Now()
		go func() {
			time.Sleep(time.Minute)
			failed <- errors.New("it does not start again")
		}()
		stop()
		must.Equal(t, time.Minute, time.Since(began), "waited")
	})
}

// A slow download from one listener takes no time from the callbacks of another one.
func TestASlowDownloadLeavesCallbacksTheirTime(t *testing.T) {
	t.Parallel()
	begun, end := make(chan string, 2), map[string]chan struct{}{"download": make(chan struct{}), "callback": make(chan struct{})}
	var all servers
	answers := map[string]chan string{}
	for _, name := range []string{"download", "callback"} {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		all = append(all, served{&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			begun <- name
			<-end[name]
			_, _ = io.WriteString(w, "whole")
		})}, l})
		answers[name] = make(chan string, 1)
		go func() {
			resp, err := http.Get("http://" + l.Addr().String())
			if err != nil {
				answers[name] <- err.Error()
				return
			}
			defer resp.Body.Close()
			text, _ := io.ReadAll(resp.Body)
			answers[name] <- string(text)
		}()
	}
	all.start()
	<-begun
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- all.shutdown() }()
	for { // until the listener of the callbacks is closed
		conn, err := net.Dial("tcp", all[1].listener.Addr().String())
		if err != nil {
			break
		}
		_ = conn.Close()
	}
	close(end["callback"])
	must.Equal(t, "whole", <-answers["callback"])
	close(end["download"])
	must.Equal(t, "whole", <-answers["download"])
	must.OK(t, <-stopped)
}
