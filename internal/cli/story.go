package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringback/internal/transcript"
)

// storyteller shows what happened in a job's turns, from the CLI's output.
type storyteller struct {
	p     printer
	turns int
	// told counts the lines shown, of standard error and of the rest. A turn's standard error comes
	// after the rest of its output, and both can grow.
	told map[bool]int
}

// tell shows the new lines and returns their number. It leaves an incomplete last line for the next
// call.
func (s *storyteller) tell(printed []byte) int {
	if s.told == nil {
		s.told = map[bool]int{}
	}
	seen, fresh := map[bool]int{}, 0
	for line := range bytes.Lines(printed[:bytes.LastIndexByte(printed, '\n')+1]) {
		l := transcript.ParseLine(line)
		if l.Type == "" { // the CLI prints only JSON, unless something is wrong
			l.Type, l.Text = "stderr", string(line)
		}
		isError := l.Type == "stderr" && json.Valid(line)
		if seen[isError]++; seen[isError] <= s.told[isError] {
			continue
		}
		s.told[isError], fresh = seen[isError], fresh+1
		s.line(l)
	}
	return fresh
}

func (s *storyteller) line(l transcript.Line) {
	switch l.Type {
	case "system":
		if l.Subtype == "init" {
			s.turns++
			s.p.printf("%s\n", s.p.paint(bold, clean(strings.TrimSpace(fmt.Sprintf("Turn %d  %s", s.turns, l.Model)))))
		}
	case "assistant", "user":
		if l.Message != nil {
			s.blocks(l)
		}
	case "ringback":
		s.p.aloud("Ringback", faint, l.Text)
	case "stderr":
		s.p.aloud("stderr", red, l.Text)
	case "result":
		if l.Result != nil {
			s.ended(*l.Result)
		}
	}
}

func (s *storyteller) blocks(l transcript.Line) {
	for _, b := range l.Message.Blocks {
		switch b.Type {
		case "text":
			if l.Type == "user" { // the prompt
				continue
			}
			s.p.aloud("Claude", bold, b.Text)
		case "tool_use":
			s.p.hang("  ", "    ", "", oneLine("→ "+b.Name+" "+shortened(plainValue(b.Input))))
		case "tool_result":
			color := ""
			if b.IsError {
				color = red
			}
			s.p.hang("  ", "    ", color, "← "+shortened(outputOf(b.Output)))
		}
	}
}

// outputOf returns a tool's output: a text, or several joined.
func outputOf(content json.RawMessage) string {
	var pieces []transcript.Block
	if json.Unmarshal(content, &pieces) != nil {
		return plainValue(content)
	}
	var texts []string
	for _, piece := range pieces {
		texts = append(texts, piece.Text)
	}
	return strings.Join(texts, " ")
}

func (s *storyteller) ended(r transcript.Result) {
	outcome, color := "ended", faint
	if r.IsError {
		outcome, color = "failed: "+oneLine(r.Text), red
	}
	took := (time.Duration(r.DurationMS) * time.Millisecond).Round(100 * time.Millisecond)
	line := fmt.Sprintf("Turn %d %s after %s", max(1, s.turns), outcome, took)
	if r.CostUSD > 0 { // the CLI counts the whole conversation
		line += fmt.Sprintf(", $%.4f so far", r.CostUSD)
	}
	s.p.hang("  ", "    ", color, clean(line))
}

// aloud prints a speaker and a text, with further lines indented below the first.
func (p printer) aloud(who, color, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	p.hang("  "+p.paint(color, who)+"  ", strings.Repeat(" ", len(who)+4), "", text)
}
