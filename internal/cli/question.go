package cli

import (
	"encoding/json"
	"strings"

	"ringback/internal/excerpt"
	"ringback/internal/job"
)

// question prints what a checkpoint asks and how it may be answered.
func (p printer) question(c job.Checkpoint) {
	p.asks(c)
	if replies := suggested(c.Props); replies != "" {
		p.printf("%s\n", p.paint(faint, "Replies: "+clean(replies)))
	}
	p.printf("%s\n", p.paint(faint, "Answer with: ringback reply "+Quoted(clean(string(c.ID)))+" <text>"))
}

// asks prints a question alone. Its lines are indented, so that none passes for
// one of ours.
func (p printer) asks(c job.Checkpoint) {
	for line := range strings.Lines(strings.TrimSpace(c.Message)) {
		p.printf("  %s\n", p.paint(bold, clean(strings.TrimRight(line, "\r\n"))))
	}
}

// suggested are the replies that a question offers, in one line.
func suggested(props json.RawMessage) string {
	var p job.Props
	if json.Unmarshal(props, &p) != nil {
		return ""
	}
	return oneLine(strings.Join(p.SuggestedReplies, " | "))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// most is how much of a long text a line of a list shows, in characters.
const most = 100

func shortened(text string) string {
	return excerpt.Letters(oneLine(text), most)
}
