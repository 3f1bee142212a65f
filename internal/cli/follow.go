package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ringback/client"
	"ringback/internal/job"
)

type followed struct {
	id     job.ID
	userID string
	// from hides earlier events; zero shows all.
	from time.Time
}

// follow shows a job's progress until it has ended or its change waits for review, and returns its
// record.
func (a *app) follow(ctx context.Context, f followed, out io.Writer, here *inPlace) (client.Answer[job.Job], error) {
	b := &progress{p: a.printer(out), here: here}
	defer b.clear()
	if here != nil {
		defer here.stop()
	}
	w := client.Watch{UserID: f.userID, RequestID: f.id, Since: new(job.Seq), Patient: true, AwayFunc: func(error) { b.note(away) }}
	return a.watchEvents(ctx, w, hasStopped, func(e client.Event) (mayHaveEnded bool, err error) {
		return !e.Time.Before(f.from) && b.show(ctx, e), nil
	})
}

// away is shown when the server becomes unreachable.
const away = "The server is unreachable; retrying …"

// watchEvents calls show for each event, until ctx ends, or the job of the watch is over, which is looked
// up when show returns true. It returns the job's record.
func (a *app) watchEvents(
	ctx context.Context, w client.Watch, isOver func(job.Job) bool,
	show func(client.Event) (mayBeOver bool, err error),
) (j client.Answer[job.Job], err error) {
	for e, err := range a.api.Watch(ctx, w) {
		mayBeOver := false
		if err == nil {
			mayBeOver, err = show(e)
		}
		if err != nil {
			return j, err
		}
		if mayBeOver {
			if j, err = a.current(ctx, w.RequestID); err != nil || isOver(j.Value) {
				return j, err
			}
		}
	}
	return j, ctx.Err()
}

// current returns a job's record. It waits for an unreachable server, which is known to exist.
func (a *app) current(ctx context.Context, id job.ID) (client.Answer[job.Job], error) {
	return client.UntilAvailable(ctx, func() (client.Answer[job.Job], error) { return a.api.Get(ctx, id) })
}

func hasStopped(j job.Job) bool { return j.State.Terminal() || underReview(j) }

func hasEnded(j job.Job) bool { return j.State.Terminal() }

// replay calls show for the retained events of a watch's job. A job that has ended may have none after
// Since, so that waiting for one would never end.
func (a *app) replay(ctx context.Context, w client.Watch, show func(client.Event) error) error {
	for since := *w.Since; ; {
		page, err := a.api.Events(ctx, w.RequestID, since)
		if err == nil && page.Value.Resync {
			err = show(client.Event{Event: job.Event{Name: client.Resync}, JSON: json.RawMessage(`{"event":"resync"}`)})
		}
		if err != nil || len(page.Value.Events) == 0 {
			return err
		}
		for i, text := range listIn(page.JSON, "events") {
			e := page.Value.Events[i]
			e.JSON, since = text, e.ID
			if err := show(e); err != nil {
				return err
			}
		}
	}
}

// RunAndShow runs a job and shows its progress and result to a person. It returns the error of ctx
// if ctx ends first.
func RunAndShow(ctx context.Context, api *client.Client, n client.NewJob, out io.Writer, noColor bool) error {
	a := newApp(Defaults{NoColor: noColor})
	a.stderr, a.api = out, api
	created, err := api.Create(ctx, n)
	if err != nil {
		return err
	}
	j, err := a.follow(ctx, followed{id: created.Value.RequestID, userID: n.UserID}, out, nil)
	if err != nil {
		return err
	}
	a.printer(out).ending(j.Value)
	return resultOf(j.Value)
}

// resultOf returns errNoResult for a job that ended without a result.
func resultOf(j job.Job) error {
	if j.State != job.Received {
		return errNoResult
	}
	return nil
}

// progress shows a job's progress: as one changing line on a terminal, otherwise as a line for each
// change.
type progress struct {
	p       printer
	percent float64
	last    string // the line shown last
	// here lets the person answer questions here; nil if they are answered elsewhere.
	here *inPlace
}

// show shows an event. It returns true if the job may have ended with it.
func (b *progress) show(ctx context.Context, e client.Event) bool {
	d := e.Contents()
	switch e.Type() {
	case job.EventPending, job.EventRunning:
		percent := 0.0
		if slices.Contains([]job.Phase{job.Capturing, job.Verifying, job.Publishing}, d.Phase) {
			percent = b.percent // Claude's work is done
		}
		b.line(percent, capitalized(oneLine(d.Words(e.Type()))))
	case job.EventActivity:
		b.line(d.Progress, d.Text())
	case job.EventPartial:
		b.line(b.percent, d.Words(e.Type()))
	case job.EventCheckpoint:
		if checkpointOf(e).Type == job.Review {
			return true
		}
		b.asked(ctx, e, d.Text())
	case job.EventResolved:
		if b.here != nil && b.here.asked == checkpointOf(e).ID { // it may have been answered elsewhere
			b.here.stop()
		}
		b.line(b.percent, "Answered")
	case job.EventAction:
		b.clear()
		b.p.hang("", "  ", toneOf(e), clean(inWords(e)))
	default:
	}
	return ends(e)
}

func capitalized(text string) string {
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

// asked shows a question. On a terminal it is shown in full, and the person may be able to answer
// it.
func (b *progress) asked(ctx context.Context, e client.Event, message string) {
	if b.p.columns == 0 {
		b.line(b.percent, "Waiting for an answer (ringback reply …): "+oneLine(message))
		return
	}
	b.clear()
	if b.here != nil {
		b.here.ask(ctx, checkpointOf(e))
		return
	}
	b.p.question(checkpointOf(e))
	b.line(b.percent, "Waiting for an answer")
}

// checkpointOf returns an event's checkpoint; zero if there is none.
func checkpointOf(e client.Event) job.Checkpoint { return decoded[job.Checkpoint](e.Data) }

// ends reports whether a job may have ended with an event. Only its record shows whether it has.
func ends(e client.Event) bool {
	switch e.Type() {
	case job.EventReceived, job.EventError, job.EventCancelled, job.EventRejected, client.Resync:
		return true
	default:
	}
	return false
}

// line shows the current progress. It does not repeat an identical line.
func (b *progress) line(percent float64, text string) {
	b.percent = min(100, max(0, percent))
	line := fmt.Sprintf("%3.0f%%  %s", b.percent, clean(text))
	if line == b.last || b.here != nil && b.here.asked != "" { // a question has the terminal
		return
	}
	b.last = line
	if b.p.columns == 0 {
		b.p.printf("%s\n", line)
		return
	}
	drawn, taken := "", 1 // a full line would wrap and remain
	if b.p.columns >= 60 {
		const width = 24
		drawn, taken = b.p.paint(cyan, bar(b.percent, width))+" ", width+2
	}
	b.p.printf("\r\x1b[K%s%s", drawn, b.p.fit(line, taken))
}

func (b *progress) note(text string) {
	b.clear()
	b.p.printf("%s\n", b.p.paint(yellow, text))
}

// clear removes the changing line from the terminal.
func (b *progress) clear() {
	if b.p.columns > 0 && b.last != "" {
		b.p.printf("\r\x1b[K")
	}
	b.last = ""
}

func bar(percent float64, width int) string {
	full := min(width, max(0, int(percent/100*float64(width)+0.5)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}
