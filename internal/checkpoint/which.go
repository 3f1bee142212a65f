package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/checkpoint/intent"
	"ringback/internal/job"
)

// If several questions are open in one chat and the latest asks for a decision, a message must name
// the one it is about: a bare yes approves nothing.

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
	if !open[0].Type.Binding() {
		return latest, nil
	}
	if i := worded(open, m.Content); i >= 0 {
		return addressee{checkpoint: &open[i], text: m.Content}, nil
	}
	slices.Reverse(open) // the oldest is the first of the list
	return addressee{which: open}, nil
}

// numbered returns the checkpoint that a text names by its number in the list shown last. If the
// text is only the number, the answer is the earlier text.
func numbered(open []job.Checkpoint, earlier *which, text string) (addressee, bool) {
	if earlier == nil {
		return addressee{}, false
	}
	question, rest, ok := intent.ByNumber(len(earlier.Checkpoints), text)
	if !ok {
		return addressee{}, false
	}
	i := slices.IndexFunc(open, func(c job.Checkpoint) bool { return c.ID == earlier.Checkpoints[question] })
	if i < 0 {
		return addressee{}, false // it is closed by now
	}
	return addressee{checkpoint: &open[i], text: cmp.Or(rest, earlier.Text)}, true
}

// worded returns the index of the only checkpoint that the text may answer, if it is one of that
// checkpoint's own wordings of an answer; -1 if there is none.
func worded(open []job.Checkpoint, text string) int {
	found, own := -1, false
	for i, c := range open {
		f, details := parse(c)
		if details == nil && !f.mayAnswer(text) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found, own = i, details == nil && intent.Worded(f.context(), text)
	}
	if !own {
		return -1
	}
	return found
}

// mayAnswer reports whether a text may be an answer to the question: if it is understood as one, if
// the question offers it, or if any words are an answer.
func (f form) mayAnswer(text string) bool {
	q := f.context()
	offered := intent.Context{YesPhrases: slices.Concat(f.props.SuggestedReplies, q.Labels)}
	return !q.Type.Binding() && len(q.Fields) == 0 || intent.Read(q, text).Outcome != intent.Unclear || intent.Worded(offered, text)
}

// askedWhich returns the question which checkpoint is meant, if it is the last message of the chat;
// otherwise nil.
func (s *Service) askedWhich(ctx context.Context, m Incoming) (*which, error) {
	_, last, err := s.store.Messages(ctx, m.UserID, m.SessionID, 0, 1)
	if err != nil || last == 0 {
		return nil, err
	}
	found, _, err := s.store.Messages(ctx, m.UserID, m.SessionID, last-1, 1)
	var props whichProps
	if len(found) == 1 && found[0].MessageType == job.WhichMessage && job.UnmarshalExact(found[0].Props, &props) == nil {
		return props.Which, nil
	}
	return nil, err
}

// askWhich stores a message in the chat and asks which checkpoint it is about. It returns the
// message's id.
func (s *Service) askWhich(ctx context.Context, m Incoming, open []job.Checkpoint) (int64, error) {
	id, err := s.jobs.AppendMessage(ctx, m.UserID, m.SessionID, m.body(job.FromUser), false)
	if err != nil {
		return 0, err
	}
	lines := []string{fmt.Sprintf("%d questions are open here. Which one is “%s” about?", len(open), intent.Quote(m.Content))}
	asked := which{Text: m.Content}
	for i, c := range open {
		asked.Checkpoints = append(asked.Checkpoints, c.ID)
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, headline(c)))
	}
	lines = append(lines, `Answer one at a time, with its number: "1: yes".`)
	question := job.Text(job.FromAssistant, strings.Join(lines, "\n"))
	question.MessageType = job.WhichMessage
	question.Props = job.MustJSON(whichProps{&asked})
	_, err = s.jobs.AppendMessage(ctx, m.UserID, m.SessionID, question, false)
	return id, err
}

// headline describes a checkpoint in a list.
func headline(c job.Checkpoint) string {
	var props struct {
		Title string `json:"title"`
	}
	_ = job.UnmarshalExact(c.Props, &props) // the message is the question even if the props are invalid
	f, _ := parse(c)
	line := intent.Quote(f.original())
	if title := strings.TrimRight(cmp.Or(props.Title, f.props.ToolName), "?？ "); title != "" {
		return intent.Quote(title) + ": " + line
	}
	return line
}
