package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/lazy"
	"ringback/internal/lifecycle"
	"ringback/internal/process"
)

// pulse is when the CLI of a turn last printed a line that shows progress, and which tools it
// runs: by these, a turn that hangs is told from one that works. It survives the server: the
// time of the last line is the modification time of a file.
type pulse struct {
	file string
	last time.Time
	// until is when the CLI repeats a request that the model's API has refused.
	until time.Time
	// tools are the calls of tools that run, by their ids.
	tools map[string]runningTool
	// known is how far an earlier start of the server had read, at knownAt; left is how much the
	// CLI had printed, the last of it at leftAt, when this one began to read.
	known, left     int64
	knownAt, leftAt time.Time
	// heard is where the last line ends; noted is whether the file says so.
	heard int64
	noted bool
}

type runningTool struct {
	name  string
	since time.Time
}

// maxTools bounds how many running tools are known: a job may print what it likes.
const maxTools = 1000

// pulseFile keeps when a turn's CLI printed its last line. Nothing in a sandbox can write there.
func (s *nodeDir) pulseFile(id job.ID, turn int) string {
	return filepath.Join(s.jobDir(id), fmt.Sprintf("turn-%d.pulse", turn))
}

// newPulse returns the pulse of a process that was started or adopted.
func newPulse(file string, f process.Files) *pulse {
	p := &pulse{file: file, last: modifiedAt(f.Record), tools: map[string]runningTool{}, left: sizeOf(f.Stdout), leftAt: modifiedAt(f.Stdout), noted: true}
	if text, err := os.ReadFile(file); err == nil {
		p.known, _ = strconv.ParseInt(string(text), 10, 64)
		p.knownAt = modifiedAt(file)
	}
	return p
}

// modifiedAt is when a file was last written, on the clock that nobody sets; now, if there is
// none.
func modifiedAt(name string) time.Time {
	now := time.Now()
	info, err := os.Lstat(name)
	if err != nil {
		return now
	}
	return now.Add(-max(0, now.Sub(info.ModTime())))
}

// line takes a line that ends there in the output.
func (p *pulse) line(l claude.Line, end int64) {
	if l.KeepsAlive() {
		return
	}
	at := p.printedAt(end)
	p.last, p.heard, p.noted = at, end, false
	if wait := l.Waits(at); wait.After(p.until) {
		p.until = wait
	}
	if parent, ok := p.tools[l.ParentToolUseID]; ok { // a subagent works
		parent.since = at
		p.tools[l.ParentToolUseID] = parent
	}
	if l.Result != nil {
		clear(p.tools)
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

// printedAt is when a line was printed that ends there.
func (p *pulse) printedAt(end int64) time.Time {
	switch {
	case end <= p.known:
		return p.knownAt
	case end <= p.left:
		return p.leftAt
	}
	return time.Now()
}

// note keeps the pulse for the next start of the server.
func (p *pulse) note() {
	if p.noted {
		return
	}
	// Without it, the next start takes the last line for older than it is, or newer.
	if os.WriteFile(p.file, []byte(strconv.FormatInt(p.heard, 10)), 0o600) == nil {
		p.noted = os.Chtimes(p.file, time.Time{}, p.last) == nil
	}
}

// resume notes that the turn waited until then for something that is not Claude's.
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

// hangs says what hangs, for the job's record; "" while nothing does.
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

var toolName = lazy.Regexp(`^[A-Za-z0-9_-]{1,64}$`)

// shownTool is a tool's name where it may be shown in words of Ringback's: any program of a job
// can print one.
func shownTool(name string) string {
	if toolName().MatchString(name) {
		return "The tool " + name
	}
	return "A tool"
}

// stalls says why the turn hangs, for the job's record; "" while it works, or waits for a person
// or an action.
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
	ago, err := t.r.jobs.SinceWait(ctx, t.job.ID, lifecycle.Holder{Turn: t.job.Turn, Node: t.r.nodeDir.node})
	if err != nil { // the store is away, or has the turn end
		return ""
	}
	t.pulse.resume(time.Now().Add(-ago))
	return hangs()
}

// endStalled ends the process of a turn that hangs.
func (t *claudeTurn) endStalled(why string) {
	t.stalled = why
	t.r.stalled.Add(1)
	t.r.log.Warn("turn stalled", "requestId", t.job.ID, "turn", t.job.Turn, "kind", t.job.Kind, "why", why)
	t.proc.Terminate(t.r.opts.Grace)
}
