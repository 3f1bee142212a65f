package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// storyLine is a line of a transcript, as far as people are told of it. Lines of
// other types, of which the CLI has ever more, are passed over.
type storyLine struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Model   string `json:"model"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	IsError    bool    `json:"is_error"`
	Result     string  `json:"result"`
	StopReason string  `json:"stop_reason"`
	DurationMS int64   `json:"duration_ms"`
	CostUSD    float64 `json:"total_cost_usd"`
	// Text is what the CLI printed to standard error.
	Text string `json:"text"`
}

// storyBlock is a piece of what Claude said, or of what it was told.
type storyBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// storyteller tells what happened in a job's turns, out of what the CLI printed.
type storyteller struct {
	p     printer
	turns int
}

// tell tells whole lines, and returns how many bytes they are: a last line that
// is still being written is left for the next time.
func (s *storyteller) tell(transcript []byte) int {
	end := bytes.LastIndexByte(transcript, '\n') + 1
	for line := range bytes.Lines(transcript[:end]) {
		s.line(bytes.TrimSpace(line))
	}
	return end
}

func (s *storyteller) line(text []byte) {
	if len(text) == 0 {
		return
	}
	var l storyLine
	if json.Unmarshal(text, &l) != nil {
		s.p.aloud("stderr", red, string(text)) // the CLI prints nothing but JSON there, unless something is wrong
		return
	}
	switch l.Type {
	case "system":
		if l.Subtype == "init" {
			s.turns++
			s.p.printf("%s\n", s.p.paint(bold, clean(strings.TrimSpace(fmt.Sprintf("Turn %d  %s", s.turns, l.Model)))))
		}
	case "assistant", "user":
		s.blocks(l.Message.Content)
	case "stderr":
		s.p.aloud("stderr", red, l.Text)
	case "result":
		s.ended(l)
	}
}

func (s *storyteller) blocks(content json.RawMessage) {
	var blocks []storyBlock
	if json.Unmarshal(content, &blocks) != nil {
		return // the prompt, as a text
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			s.p.aloud("Claude", bold, b.Text)
		case "tool_use":
			s.p.printf("  %s\n", clean(strings.TrimSpace("→ "+b.Name+" "+shortened(plainValue(b.Input)))))
		case "tool_result":
			line := clean("← " + shortened(outputOf(b.Content)))
			if b.IsError {
				line = s.p.paint(red, line)
			}
			s.p.printf("  %s\n", line)
		}
	}
}

// outputOf is what a tool brought: a text, or pieces of one.
func outputOf(content json.RawMessage) string {
	var pieces []storyBlock
	if json.Unmarshal(content, &pieces) != nil {
		return plainValue(content)
	}
	var texts []string
	for _, piece := range pieces {
		texts = append(texts, piece.Text)
	}
	return strings.Join(texts, " ")
}

func (s *storyteller) ended(l storyLine) {
	outcome, color := "ended", faint
	if l.IsError {
		outcome, color = "failed: "+oneLine(l.Result), red
	}
	took := (time.Duration(l.DurationMS) * time.Millisecond).Round(100 * time.Millisecond)
	line := fmt.Sprintf("Turn %d %s after %s", max(1, s.turns), outcome, took)
	if l.CostUSD > 0 { // the CLI counts the whole conversation
		line += fmt.Sprintf(", $%.4f so far", l.CostUSD)
	}
	s.p.printf("  %s\n", s.p.paint(color, clean(line)))
}

// aloud prints what somebody said, its further lines below the first.
func (p printer) aloud(who, color, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	margin := "\n" + strings.Repeat(" ", len(who)+4)
	p.printf("  %s  %s\n", p.paint(color, who), strings.ReplaceAll(cleanLines(text), "\n", margin))
}
