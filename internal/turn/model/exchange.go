package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

// Answers records the API's responses to the requests of one turn, as far as they concern
// rate limits, and what the model has written. A turn can make its CLI print anything, but
// cannot forge the API's responses.
type Answers struct {
	answered atomic.Bool
	refused  atomic.Pointer[Refusal]
	said     sync.Map // digests of texts
	called   sync.Map // call
}

type call struct{ id, tool string }

// Said reports whether the model has written a text. The turn gets its last piece only when this is known.
func (a *Answers) Said(text string) bool {
	_, is := a.said.Load(digestOf(text))
	return is
}

// Called reports whether the model has called a tool with an id. The turn gets the call only when this is
// known. The input is not compared: the CLI may print it in another form.
func (a *Answers) Called(id, tool string) bool {
	_, is := a.called.Load(call{id, tool})
	return is
}

func (a *Answers) say(text string) { a.said.Store(digestOf(text), true) }

func (a *Answers) call(b block) { a.called.Store(call{b.ID, b.Name}, true) }

func digestOf(text string) [sha256.Size]byte { return sha256.Sum256([]byte(strings.TrimSpace(text))) }

// Refusal is an error response of the API.
type Refusal struct {
	// Status is the HTTP status; Type and Message are from the API's error.
	Status  int
	Type    string
	Message string
	// ResetsAt is the end of the wait if the account has used up its quota.
	ResetsAt time.Time
}

// Answered reports whether the model has answered a request.
func (a *Answers) Answered() bool { return a.answered.Load() }

// Refused returns the latest error; nil for none.
func (a *Answers) Refused() *Refusal { return a.refused.Load() }

func (a *Answers) refuse(r Refusal) { a.refused.Store(&r) }

const maxError = 64 << 10

// note records a response on its way to the turn.
func (a *Answers) note(r *http.Response) error {
	if r.StatusCode < http.StatusBadRequest {
		a.answered.Store(true)
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxError))
	if err != nil {
		return err
	}
	rest := r.Body
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), rest), rest}
	refusal := readError(text)
	refusal.Status, refusal.ResetsAt = r.StatusCode, resetsAt(r.Header)
	a.refuse(refusal)
	return nil
}

// readError parses the body of an error. The result is empty if the body is not in the
// API's format.
func readError(text []byte) Refusal {
	var body struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(text, &body)
	return Refusal{Type: body.Error.Type, Message: body.Error.Message}
}

// resetsAt returns when an account that has used up its quota may continue; zero for
// others.
func resetsAt(h http.Header) time.Time {
	seconds, err := strconv.ParseInt(h.Get("Anthropic-Ratelimit-Unified-Reset"), 10, 64)
	if err != nil || h.Get("Anthropic-Ratelimit-Unified-Status") != "rejected" {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
