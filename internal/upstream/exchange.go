package upstream

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Report is the state of a request to the model.
type Report struct {
	// Use is the usage that the API has reported so far; zero until the response has begun.
	Use Use
	// Written estimates the output so far, in tokens: the API reports its length only at
	// the end of the response.
	Written int64
	// Ended is true for the last report. Unknown is true if the request was sent and the
	// API has not reported its usage, because the connection broke or the response cannot
	// be parsed; also if only the beginning of the usage is known, and the end may add more to
	// it than output.
	Ended, Unknown bool
}

// exchange is a request to the model and its response.
type exchange struct {
	reportFunc func(Report)
	// repeats is true if the end of the response reports more costs than those of its output.
	repeats bool

	mu     sync.Mutex
	report Report
	// sent is true once the whole request has been sent: before that, the API cannot charge
	// for it. refused is true if the response is an error.
	sent, refused bool
	// whole is true once the API has reported the usage of the whole response.
	whole bool
	// wrote is the time of the last report of output.
	wrote time.Time
	// left is true if the client has disconnected, and cancel ends the exchange.
	left   bool
	cancel context.CancelFunc
}

const (
	// waitForBeginning is the maximum wait for the beginning of a response after the client
	// has disconnected: the API charges for the request, and reports there how much.
	waitForBeginning = 30 * time.Second
	// writeInterval is the pause between two reports of output.
	writeInterval = time.Second
)

// follow returns the context of the exchange with the API. It outlives the client until the
// response has begun, so that a request is counted even if it is aborted.
func (x *exchange) follow(client context.Context) context.Context {
	ctx, cancel := context.WithCancel(context.WithoutCancel(client))
	x.cancel = cancel
	context.AfterFunc(client, x.leave)
	return ctx
}

// send records that the whole request is about to be sent.
func (x *exchange) send() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent = true
}

func (x *exchange) leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.left = true
	if !x.sent || x.refused || x.report.Use.Begun() {
		x.cancel()
		return
	}
	time.AfterFunc(waitForBeginning, x.cancel)
}

// answer records that the API has responded.
func (x *exchange) answer(status int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent, x.refused = true, status >= http.StatusBadRequest
}

// use reports the usage that the API has reported, of the whole response or of its beginning.
func (x *exchange) use(is Use, whole bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.report.Use, x.whole = is, whole
	x.reportFunc(x.report)
	if x.left {
		x.cancel()
	}
}

// write reports the length of the output so far, in tokens.
func (x *exchange) write(tokens int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.report.Written = tokens
	if now := time.Now(); now.Sub(x.wrote) >= writeInterval {
		x.wrote = now
		x.reportFunc(x.report)
	}
}

func (x *exchange) end() {
	x.cancel()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.report.Ended = true
	missing := x.report.Use.None() || !x.whole && (x.repeats || !x.report.Use.Begun())
	x.report.Unknown = x.sent && !x.refused && missing
	x.reportFunc(x.report)
}
