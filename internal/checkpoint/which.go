package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/checkpoint/intent"
	"ringback/internal/job"
)

// If several decisions are open in one chat, a message must name the one it is about: a bare yes
// approves none of them.

// addressee is the checkpoint that a chat message replies to.
type addressee struct {
	// checkpoint is nil if nothing was asked.
	checkpoint *job.Checkpoint
	// text is the part of the message about the checkpoint.
	text string
	// which are the candidates if the message does not name one.
	which []job.Checkpoint
}

// whichProps are the props of a message that asks which checkpoint is meant.
type whichProps struct {
	Which *which `json:"which,omitempty"`
}

// which contains the checkpoints in the order of the list in that message, and the text that named
// none of them.
type which struct {
	Checkpoints []job.CheckpointID `json:"checkpoints"`
	Text        string             `json:"text"`
}

// oneOf returns the checkpoint that a message is about. open are the open checkpoints, latest
// first.
func (s *Service) oneOf(ctx context.Context, m Incoming, open []job.Checkpoint) (addressee, error) {
	latest := addressee{checkpoint: &open[0], text: m.Content}
	if len(open) == 1 {
		return latest, nil
	}
	earlier, err := s.askedWhich(ctx, m)
	if err != nil {
		return addressee{}, err
	}
	if to, ok := numbered(open, earlier, m.Content); ok {
		return to, nil
	}
	gates := rivals(open, m.Content)
	if len(gates) < 2 {
		return latest, nil
	}
	if i := worded(gates, m.Content); i >= 0 {
		return addressee{checkpoint: &gates[i], text: m.Content}, nil
	}
	if to, ok := titled(gates, earlier, m.Content); ok {
		return to, nil
	}
	slices.Reverse(gates) // the oldest is the first of the list
	return addressee{which: gates}, nil
}

// numbered returns the checkpoint that a text names by its number in the list shown last.
func numbered(open []job.Checkpoint, earlier *which, text string) (addressee, bool) {
	if earlier == nil {
		return addressee{}, false
	}
	n, ok := intent.ByNumber(len(earlier.Checkpoints), text)
	if !ok {
		return addressee{}, false
	}
	i := slices.IndexFunc(open, func(c job.Checkpoint) bool { return c.ID == earlier.Checkpoints[n.Question] })
	if i < 0 {
		return addressee{}, false // it is closed by now
	}
	return addressee{checkpoint: &open[i], text: textFor(n, earlier)}, true
}

// titled returns the checkpoint that a text names by its title, if this text or the earlier one
// contains an answer.
func titled(gates []job.Checkpoint, earlier *which, text string) (addressee, bool) {
	titles := make([]string, len(gates))
	for i, c := range gates {
		titles[i] = titleOf(c)
	}
	n, ok := intent.ByTitle(titles, text)
	if !ok || textFor(n, earlier) == "" {
		return addressee{}, false
	}
	return addressee{checkpoint: &gates[n.Question], text: textFor(n, earlier)}, true
}

// textFor returns the answer in a text that names a question. If the text is only the name, the
// answer is the earlier text that named no question.
func textFor(n intent.Named, earlier *which) string {
	if n.Rest == "" && earlier != nil {
		return earlier.Text
	}
	return n.Rest
}

// rivals returns the checkpoints that a message may be about. If the latest one asks for a value,
// it is the only one. Otherwise they are all decisions, and any other checkpoint that the message
// would answer.
func rivals(open []job.Checkpoint, text string) []job.Checkpoint {
	if !open[0].Type.Binding() {
		return open[:1]
	}
	return slices.DeleteFunc(slices.Clone(open), func(c job.Checkpoint) bool {
		if c.Type.Binding() {
			return false
		}
		f, details := parse(c)
		return details != nil || intent.Read(f.context(), text).Outcome == intent.Unclear
	})
}

// worded returns the index of the only checkpoint for which the text is one of its own wordings of
// an answer; -1 if there is none or more than one.
func worded(gates []job.Checkpoint, text string) int {
	found := -1
	for i, c := range gates {
		f, details := parse(c)
		if details != nil || !intent.Worded(f.context(), text) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// askedWhich returns the question which checkpoint is meant, if it is the last message of the chat;
// otherwise nil.
func (s *Service) askedWhich(ctx context.Context, m Incoming) (*which, error) {
	_, last, err := s.store.Messages(ctx, m.UserID, m.SessionID, 0, 1)
	if err != nil || last == 0 {
		return nil, err
	}
	found, _, err := s.store.Messages(ctx, m.UserID, m.SessionID, last-1, 1)
	if err != nil || len(found) == 0 || found[0].MessageType != job.WhichMessage {
		return nil, err
	}
	return whichOf(found[0]), nil
}

// whichOf returns the question in a message's props, or nil if they contain none.
func whichOf(m job.Message) *which {
	var props whichProps
	if json.Unmarshal(m.Props, &props) != nil {
		return nil
	}
	return props.Which
}

// askWhich stores a message in the chat and asks which checkpoint it is about. It returns the
// message's id.
func (s *Service) askWhich(ctx context.Context, m Incoming, gates []job.Checkpoint) (int64, error) {
	_, id, _, err := s.jobs.AppendMessage(ctx, m.UserID, m.SessionID, m.body(job.FromUser), false)
	if err != nil {
		return 0, err
	}
	lines := []string{fmt.Sprintf("%d questions are open here. Which one is “%s” about?", len(gates), intent.Quote(m.Content))}
	asked := which{Text: m.Content}
	for i, c := range gates {
		asked.Checkpoints = append(asked.Checkpoints, c.ID)
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, headline(c)))
	}
	lines = append(lines, `Answer one at a time, with its number: "1: yes".`)
	question := job.Text(job.FromAssistant, strings.Join(lines, "\n"))
	question.MessageType = job.WhichMessage
	if question.Props, err = json.Marshal(whichProps{&asked}); err != nil {
		return 0, err
	}
	_, _, _, err = s.jobs.AppendMessage(ctx, m.UserID, m.SessionID, question, false)
	return id, err
}

// titleOf returns the name by which a person may refer to a checkpoint; empty if it has none.
func titleOf(c job.Checkpoint) string {
	var props struct {
		Title    string `json:"title"`
		ToolName string `json:"tool_name"`
	}
	if json.Unmarshal(c.Props, &props) != nil {
		return ""
	}
	return strings.TrimRight(cmp.Or(props.Title, props.ToolName), "?？ ") // a title that asks
}

// headline describes a checkpoint in a list.
func headline(c job.Checkpoint) string {
	f, _ := parse(c)
	line := intent.Quote(f.original())
	if title := titleOf(c); title != "" {
		return intent.Quote(title) + ": " + line
	}
	return line
}
