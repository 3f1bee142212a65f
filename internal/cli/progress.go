package cli

import (
	"encoding/json"
	"strings"

	"ringback/internal/job"
)

// progress shows a job's events: on a terminal as one line that changes, else
// a line each.
type progress struct {
	p     printer
	shown bool // a changing line stands on the terminal
}

func newProgress(p printer) *progress { return &progress{p: p} }

// eventData is what of an event's data is shown.
type eventData struct {
	Status  job.State `json:"status"`
	Message string    `json:"message"`
	Percent float64   `json:"progress"`
	Error   string    `json:"error"`
	Total   int       `json:"total"`
}

// show shows an event; true when the job may have ended with it.
func (b *progress) show(e job.Event) bool {
	var d eventData
	if json.Unmarshal(e.Data, &d) != nil {
		return false
	}
	what := e.Name[strings.LastIndexByte(e.Name, ':')+1:]
	switch job.Happening(what) {
	case job.OnPending:
		b.line(0, "waiting for a worker")
	case job.OnRunning:
		b.line(0, "Claude is on it")
	case job.OnActivity:
		b.line(d.Percent, d.Message)
	case job.OnPartial:
		b.line(100, b.p.paint(faint, "results are coming in"))
	case job.OnReceived, job.OnError, job.OnCancelled, job.OnRejected:
		return true
	}
	return false
}

func (b *progress) line(percent float64, text string) {
	if !b.p.color {
		b.p.printf("%3.0f%%  %s\n", percent, text)
		return
	}
	b.p.printf("\r\x1b[K%s %3.0f%%  %s", b.p.paint(cyan, bar(percent, 24)), percent, text)
	b.shown = true
}

// done leaves the terminal clean.
func (b *progress) done() {
	if b.shown {
		b.p.printf("\r\x1b[K")
	}
}
