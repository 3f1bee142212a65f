package console

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/job/transcript"
)

type timelineView struct {
	// Runs are the latest entries, oldest first; Left is the number of older ones not shown.
	Runs []entryRun
	Left int
	// Spans are the job's activities over time; Legend contains their sums.
	Spans  []bar
	Legend []bar
	// Total is the time from the first event to the last, or until now.
	Total time.Duration
	Turns []turnUsage
}

type entryRun struct {
	// ID identifies the run: the same run always contains the same entries, however many are shown.
	ID      int
	Entries []entry
	// Full is true if the run has the full length.
	Full bool
}

// entry is an event, or several progress reports in a row.
type entry struct {
	// ID is the ID of its first event.
	ID   job.Seq
	Time time.Time
	Type job.EventType
	Text string
	// Tone is the tone of the state that it led to; empty for none.
	Tone string
	// More are the earlier reports of the row, without the last.
	More []entry
}

// bar is a part of the time that a job took.
type bar struct {
	Label    string
	Class    string
	Duration time.Duration
	// X and Width are in thousandths of the total.
	X, Width float64
}

type turnUsage struct {
	Turn     int
	Duration time.Duration
	job.Usage
	// Share is its cost in percent of the largest.
	Share float64
}

const mostEntries = 500

func timeline(v *visit, j job.Job) (timelineView, error) {
	events, err := v.events(j.ID)
	if err != nil {
		return timelineView{}, err
	}
	text, err := v.api().Transcript(v.Request().Context(), j.ID)
	shown, entries := timelineView{Turns: turnsOf(string(text))}, entriesOf(events)
	if v.QueryParam("all") == "" {
		shown.Left = max(0, len(entries)-mostEntries)
	}
	shown.Runs = runsOf(entries, shown.Left)
	shown.Spans, shown.Legend, shown.Total = spansOf(j, events, time.Now())
	return shown, err
}

// runEntries is the number of entries laid out together: a browser skips those out of view.
const runEntries = 50

// runsOf returns all entries except the first left ones, in runs.
func runsOf(entries []entry, left int) []entryRun {
	var runs []entryRun
	id := 0
	for some := range slices.Chunk(entries, runEntries) {
		if some = some[min(left, len(some)):]; len(some) > 0 {
			runs = append(runs, entryRun{id, some, len(some) == runEntries})
		}
		left, id = max(0, left-runEntries), id+1
	}
	return runs
}

func (v *visit) events(id job.ID) ([]client.Event, error) {
	var all []client.Event
	for since := job.Seq(0); ; {
		found, err := v.api().Events(v.Request().Context(), id, since)
		if err != nil {
			return nil, err
		}
		if len(found.Value.Events) == 0 {
			return all, nil
		}
		all = append(all, found.Value.Events...)
		since = all[len(all)-1].ID
	}
}

// entriesOf returns the entries of a timeline; progress reports in a row are one entry.
func entriesOf(events []client.Event) []entry {
	var entries []entry
	for _, e := range events {
		made := entryOf(e)
		if last := len(entries) - 1; last >= 0 && made.Type == job.EventActivity && entries[last].Type == job.EventActivity {
			before := entries[last]
			made.ID = before.ID
			made.More = append(before.More, entry{Time: before.Time, Type: before.Type, Text: before.Text})
			entries[last] = made
			continue
		}
		entries = append(entries, made)
	}
	return entries
}

var eventTones = map[job.EventType]string{
	job.EventActivity: "busy", job.EventCheckpoint: "asks", job.EventReceived: "good", job.EventError: "bad",
}

func entryOf(e client.Event) entry {
	d, t := e.Contents(), e.Type()
	made := entry{ID: e.ID, Time: e.Time, Type: t, Text: d.Words(t), Tone: cmp.Or(eventTones[t], tone(d.Status))}
	switch t {
	case job.EventMessage:
		made.Text = "a message in the conversation"
	case job.EventAction:
		made.Tone = outcomeTone(d.Outcome)
	case job.EventCheckpoint:
		made.Text = "asked: " + d.Text()
	case job.EventResolved:
		made.Text = "the question is " + string(d.Status)
	default:
		made.Text = cmp.Or(made.Text, stateWords(d.Status), string(t))
	}
	return made
}

func outcomeTone(o job.OutcomeStatus) string {
	if o == job.OutcomeSucceeded {
		return "good"
	}
	return "bad"
}

// spansOf returns how a job spent its time, according to its events.
func spansOf(j job.Job, events []client.Event, now time.Time) (spans, legend []bar, total time.Duration) {
	if len(events) == 0 {
		return nil, nil, 0
	}
	begin, end := events[0].Time, now
	if !j.FinishedAt.IsZero() {
		end = j.FinishedAt
	}
	total = max(end.Sub(begin), time.Millisecond)
	sums := map[string]int{}
	add := func(label, class string, from, to time.Time) {
		if label == "" || !to.After(from) {
			return
		}
		spans = append(spans, bar{
			Label: label, Class: class, Duration: to.Sub(from), X: float64(from.Sub(begin)) * 1000 / float64(total),
			Width: float64(to.Sub(from)) * 1000 / float64(total),
		})
		at, known := sums[label]
		if !known {
			at = len(legend)
			sums[label] = at
			legend = append(legend, bar{Label: label, Class: class})
		}
		legend[at].Duration += to.Sub(from)
	}
	label, class, since := "", "", begin
	for _, e := range events {
		if !slices.Contains([]job.EventType{job.EventPending, job.EventRunning, job.EventCheckpoint, job.EventResolved}, e.Type()) {
			continue
		}
		add(label, class, since, e.Time)
		since = e.Time
		phase := e.Contents().Phase
		label, class = phase.Words(), cmp.Or(phaseClasses[phase], "still")
		if e.Type() == job.EventCheckpoint {
			label, class = "waiting for a person", "asks"
		}
	}
	if until := end; !j.State.Terminal() || until.After(since) {
		add(label, class, since, until)
	}
	return spans, legend, total
}

var phaseClasses = map[job.Phase]string{
	job.AtWork: "busy", job.Held: "asks",
	job.Preparing: "good", job.Capturing: "good", job.Verifying: "good", job.Publishing: "good",
}

type transcriptLine struct {
	Type string
	Text string
	JSON string
	Bad  bool
}

type transcriptView struct {
	Lines []transcriptLine
	Left  int
}

const mostLines = 400

// longestLine is the number of bytes above which a line of a transcript is cut.
const longestLine = 64 << 10

func newTranscript(text string) transcriptView {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if lines[0] == "" {
		return transcriptView{}
	}
	shown := transcriptView{Left: max(0, len(lines)-mostLines)}
	for _, line := range lines[shown.Left:] {
		shown.Lines = append(shown.Lines, readLine(line))
	}
	return shown
}

func readLine(line string) transcriptLine {
	if over := len(line) - longestLine; over > 0 {
		return transcriptLine{Type: "text", Text: strings.ToValidUTF8(line[:longestLine], "") + " … " + plural(over, "byte") + " more"}
	}
	shown := transcriptLine{JSON: pretty(json.RawMessage(line)), Type: "text"}
	l := transcript.ParseLine([]byte(line))
	if l.Type == "" {
		shown.Text = line
		return shown
	}
	shown.Type, shown.Bad = strings.Trim(l.Type+" "+l.Subtype, " "), l.Type == "stderr"
	shown.Text = l.Text
	if l.Result != nil {
		shown.Text, shown.Bad = l.Result.Text, l.Result.IsError
	}
	if l.Message == nil {
		return shown
	}
	for _, b := range l.Message.Blocks {
		switch b.Type {
		case "text":
			shown.Text += b.Text + "\n"
		case "tool_use":
			shown.Text += b.Name + " " + string(b.Input) + "\n"
		}
	}
	return shown
}

// turnsOf returns the usage of each turn. The CLI prints it at the end of each turn; the cost that
// it prints is the total of the conversation so far. Turns are counted by their
// beginnings, as ringback logs does: a turn that was cut off has printed no end.
func turnsOf(text string) []turnUsage {
	var turns []turnUsage
	before, turn := map[string]float64{}, 0
	for line := range strings.Lines(text) {
		l := transcript.ParseLine([]byte(line))
		if l.Type == "system" && l.Subtype == "init" {
			turn++
		}
		if l.Result == nil {
			continue
		}
		used := l.Result.Usage()
		total := used.CostUSD
		used.CostUSD = max(total-before[l.Result.SessionID], 0)
		before[l.Result.SessionID] = total
		took := time.Duration(l.Result.DurationMS) * time.Millisecond
		turns = append(turns, turnUsage{Turn: max(1, turn), Duration: took, Usage: used})
	}
	most := 0.0
	for _, t := range turns {
		most = max(most, t.CostUSD)
	}
	for i := range turns {
		if most > 0 {
			turns[i].Share = turns[i].CostUSD * 100 / most
		}
	}
	return turns
}
