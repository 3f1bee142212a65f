package upstream

import (
	"bytes"
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
