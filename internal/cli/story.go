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
	// told counts the lines that were told, of standard error and of the rest: a
	// turn's standard error stands behind the rest of it, while both grow.
	told map[bool]int
}

// tell tells the lines that are new, and returns how many they are. A last line
// that is still being written is left for the next time.
func (s *storyteller) tell(transcript []byte) int {
	if s.told == nil {
		s.told = map[bool]int{}
	}
	seen, fresh := map[bool]int{}, 0
	for line := range bytes.Lines(transcript[:bytes.LastIndexByte(transcript, '\n')+1]) {
		l := storyLine{Type: "stderr", Text: string(line)} // the CLI prints JSON alone, unless something is wrong
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
		return // the prompt, as a text
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
	s.p.hang("  ", "    ", color, clean(line))
}

// aloud prints what somebody said, its further lines below the first.
func (p printer) aloud(who, color, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	p.hang("  "+p.paint(color, who)+"  ", strings.Repeat(" ", len(who)+4), "", text)
}
