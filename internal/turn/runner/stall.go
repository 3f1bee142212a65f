package runner

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/text/lazy"
)

// pulse tracks when the CLI of a turn last printed a line that shows progress, and which
// tools it runs. It distinguishes a turn that hangs from one that works. It survives the
// server: the time of the last line is the modification time of a file.
type pulse struct {
	file string
	last time.Time
	// until is the time at which the CLI retries a request that the model's API has refused.
	until time.Time
	// ended is the time at which the CLI printed its result, its last line; zero if it has printed more.
	ended time.Time
	// tools are the running tool calls, by ID.
	tools map[string]runningTool
	// known is the offset that an earlier start of the server had read to, at knownAt. left is
	// the size of the output when this start began to read, the last of it at leftAt.
	known, left     int64
	knownAt, leftAt time.Time
	// end is the offset at which the last line ends; noted is set if the file contains it.
	end   int64
	noted bool
}

type runningTool struct {
	name  string
	since time.Time
}

// maxTools limits the number of tracked tools: a job may print anything.
const maxTools = 1000

// pulseFile stores when a turn's CLI printed its last line. No process in a sandbox can write it.
func (s *nodeDir) pulseFile(id job.ID, turn int) string { return s.turnFile(id, turn, "pulse") }

func newPulse(file string, f process.Files) *pulse {
	p := &pulse{
		file: file, last: modifiedAt(f.Record), tools: map[string]runningTool{}, left: sizeOf(f.Stdout),
		leftAt: modifiedAt(f.Stdout), noted: true,
	}
	if text, err := untrusted.ReadFile(file, maxNote); err == nil {
		p.known, _ = strconv.ParseInt(string(text), 10, 64)
		p.knownAt = modifiedAt(file)
	}
	return p
}

// modifiedAt returns the modification time of a file, on the monotonic clock; now, if there
// is no such file.
func modifiedAt(name string) time.Time {
	now := time.Now()
	info, err := os.Lstat(name)
	if err != nil {
		return now
	}
	return now.Add(-max(0, now.Sub(info.ModTime())))
}

// line processes a line that ends at the offset end.
func (p *pulse) line(l transcript.Line, end int64) {
	if l.KeepsAlive() {
		return
	}
	at := p.printedAt(end)
	p.last, p.end, p.noted = at, end, false
	if wait := l.Waits(at); wait.After(p.until) {
		p.until = wait
	}
	if parent, ok := p.tools[l.ParentToolUseID]; ok { // a subagent works
		parent.since = at
		p.tools[l.ParentToolUseID] = parent
	}
	p.ended = time.Time{}
	if l.Result != nil {
		clear(p.tools)
		p.ended = at
	}
	if l.Message == nil {
		return
	}
	for _, b := range l.Message.Blocks {
		switch {
		case b.Type == "tool_use" && len(p.tools) < maxTools:
			p.tools[b.ToolUseID] = runningTool{b.Name, at}
		case b.Type == "tool_result":
			delete(p.tools, b.ToolUseID)
		}
	}
}

// printedAt returns the time at which a line that ends at the offset end was printed.
func (p *pulse) printedAt(end int64) time.Time {
	switch {
	case end <= p.known:
		return p.knownAt
	case end <= p.left:
		return p.leftAt
	}
	return time.Now()
}

// note stores the pulse for the next start of the server.
func (p *pulse) note() {
	if p.noted {
		return
	}
	// If this fails, the next start gets a wrong time for the last line.
	if untrusted.WriteFile(p.file, []byte(strconv.FormatInt(p.end, 10))) == nil {
		p.noted = os.Chtimes(p.file, time.Time{}, p.last) == nil
	}
}

// resume records that the turn waited until then for something other than Claude.
func (p *pulse) resume(at time.Time) {
	p.until = later(p.until, at)
	for id, tool := range p.tools {
		p.tools[id] = runningTool{tool.name, later(tool.since, at)}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// hangs describes what hangs, for the job's record; "" if nothing does.
func (p *pulse) hangs(now time.Time, stall, tool time.Duration) string {
	if len(p.tools) == 0 {
		if now.Sub(later(p.last, p.until)) > stall {
			return fmt.Sprintf("Claude printed nothing for %s.", stall)
		}
		return ""
	}
	for _, running := range p.tools {
		if now.Sub(running.since) > tool {
			return fmt.Sprintf("%s ran for more than %s.", shownTool(running.name), tool)
		}
	}
	return ""
}

// isOver reports whether the CLI has printed its result and not exited for the given time.
func (p *pulse) isOver(now time.Time, exit time.Duration) bool {
	return !p.ended.IsZero() && now.Sub(p.ended) > exit
}

var toolName = lazy.Regexp(`^[A-Za-z0-9_-]{1,64}$`)

// shownTool returns a tool's name in a form that is safe in Ringback's own messages: any
// program of a job can print one.
func shownTool(name string) string {
	if toolName().MatchString(name) {
		return "The tool " + name
	}
	return "A tool"
}

// stalls returns why the turn hangs, for the job's record; "" while it works, or waits for a
// person or an action.
func (t *claudeTurn) stalls() string {
	if t.job.Options.Simulate == job.SimulateManual {
		return "" // a person plays Claude
	}
	k, err := t.r.kindOf(t.job)
	if err != nil {
		return ""
	}
	hangs := func() string { return t.pulse.hangs(time.Now(), k.Policy.StallTimeout, k.Policy.ToolTimeout) }
	if hangs() == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	ago, err := t.r.jobs.SinceWait(ctx, t.job.ID, t.holder())
	if err != nil { // the store is unavailable, or the turn must end
		return ""
	}
	t.pulse.resume(time.Now().Add(-ago))
	return hangs()
}

// overdue reports whether the turn must be ended: its CLI does not exit, or hangs.
func (t *claudeTurn) overdue() bool {
	if t.isOver = t.pulse.isOver(time.Now(), t.r.opts.Exit); t.isOver {
		t.r.log.Warn("CLI did not exit after its result", "requestId", t.job.ID, "turn", t.job.Turn)
		return true
	}
	if t.stalled = t.stalls(); t.stalled == "" {
		return false
	}
	t.r.stalled.Add(1)
	t.r.log.Warn("turn stalled", "requestId", t.job.ID, "turn", t.job.Turn, "kind", t.job.Kind, "why", t.stalled)
	return true
}
