package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// storyLine contains the fields of a transcript line that are shown to people. Other types of
// lines, of which the CLI adds more over time, are skipped.
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

// storyBlock is a block of Claude's output or input.
type storyBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

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
func (s *storyteller) tell(transcript []byte) int {
	if s.told == nil {
		s.told = map[bool]int{}
	}
	seen, fresh := map[bool]int{}, 0
	for line := range bytes.Lines(transcript[:bytes.LastIndexByte(transcript, '\n')+1]) {
		l := storyLine{Type: "stderr", Text: string(line)} // the CLI prints only JSON, unless something is wrong
		_ = json.Unmarshal(line, &l)
		isError := l.Type == "stderr" && json.Valid(line)
		if seen[isError]++; seen[isError] <= s.told[isError] {
			continue
		}
		s.told[isError], fresh = seen[isError], fresh+1
		s.line(l)
	}
	return fresh
}

func (s *storyteller) line(l storyLine) {
	switch l.Type {
	case "system":
		if l.Subtype == "init" {
			s.turns++
			s.p.printf("%s\n", s.p.paint(bold, clean(strings.TrimSpace(fmt.Sprintf("Turn %d  %s", s.turns, l.Model)))))
		}
	case "assistant", "user":
		s.blocks(l.Message.Content)
	case "ringback":
		s.p.aloud("Ringback", faint, l.Text)
	case "stderr":
		s.p.aloud("stderr", red, l.Text)
	case "result":
		s.ended(l)
	}
}

func (s *storyteller) blocks(content json.RawMessage) {
	var blocks []storyBlock
	if json.Unmarshal(content, &blocks) != nil {
		return // the prompt, as a string
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			s.p.aloud("Claude", bold, b.Text)
		case "tool_use":
			s.p.hang("  ", "    ", "", oneLine("→ "+b.Name+" "+shortened(plainValue(b.Input))))
		case "tool_result":
			color := ""
			if b.IsError {
				color = red
			}
			s.p.hang("  ", "    ", color, "← "+shortened(outputOf(b.Content)))
		}
	}
}

// outputOf returns a tool's output: a text, or several joined.
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
	s.p.hang("  ", "    ", color, clean(line))
}

// aloud prints a speaker and a text, with further lines indented below the first.
func (p printer) aloud(who, color, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	p.hang("  "+p.paint(color, who)+"  ", strings.Repeat(" ", len(who)+4), "", text)
}
