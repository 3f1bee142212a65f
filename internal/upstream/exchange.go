package upstream

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Report is how a request to the model stands.
type Report struct {
	// Use is what the API has said so far; zero until the answer has begun.
	Use Use
	// Written estimates the output so far, in tokens: the API says how much there is only when
	// the answer has ended.
	Written int64
	// Ended is true for the last report. Unknown is true if the request went out and the API
	// has not said what it used: the connection broke, or the answer cannot be read.
	Ended, Unknown bool
}

// exchange is a request to the model and its answer.
type exchange struct {
	reportFunc func(Report)

	mu     sync.Mutex
	report Report
	// sent is true once the whole request is out: before that, the API has nothing to charge
	// for. refused is true if the answer is an error.
	sent, refused bool
	// wrote is when output was last reported.
	wrote time.Time
	// left is true if the client has gone away, and cancel ends the exchange.
	left   bool
	cancel context.CancelFunc
}

const (
	// waitForBeginning is for how long the beginning of an answer is awaited that nobody reads
	// any more: the API charges for the request, and says there how much.
	waitForBeginning = 30 * time.Second
	// writeInterval is the pause between two reports of output.
	writeInterval = time.Second
)

// follow returns the context of the exchange with the API. It goes on without the client until
// the answer has begun, so that a request is counted whoever breaks it off.
func (x *exchange) follow(client context.Context) context.Context {
	ctx, cancel := context.WithCancel(context.WithoutCancel(client))
	x.cancel = cancel
	context.AfterFunc(client, x.leave)
	return ctx
}

// send notes that the whole request is about to be out.
func (x *exchange) send() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent = true
}

func (x *exchange) leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.left = true
	if !x.sent || x.refused || x.report.Use != (Use{}) {
		x.cancel()
		return
	}
	time.AfterFunc(waitForBeginning, x.cancel)
}

// answer notes that the API answers.
func (x *exchange) answer(status int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent, x.refused = true, status >= http.StatusBadRequest
}

// use reports what the API says that the request has used.
func (x *exchange) use(is Use) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if is == x.report.Use {
		return
	}
	x.report.Use = is
	x.reportFunc(x.report)
	if x.left {
		x.cancel()
	}
}

// write reports how much the model has written, in tokens.
func (x *exchange) write(tokens int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.report.Written = tokens
	if now := time.Now(); now.Sub(x.wrote) >= writeInterval {
		x.wrote = now
		x.reportFunc(x.report)
	}
}

// end reports that the exchange has ended.
func (x *exchange) end() {
	x.cancel()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.report.Ended = true
	x.report.Unknown = x.sent && !x.refused && x.report.Use == (Use{})
	x.reportFunc(x.report)
}
