package server

import (
	"io"
	"net"
	"net/http"
	"testing"

	"ringback/test/must"
)

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
