package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/intent"
)

// If several questions are open in one chat and the latest asks for a decision, a message must name
// the one it is about: a bare yes approves nothing.

type addressee struct {
	// checkpoint is nil if nothing was asked.
	checkpoint *job.Checkpoint
	// text is the part of the message about the checkpoint.
	text string
	// which are the candidates if the message does not name one.
	which []job.Checkpoint
	// closed is the number in the list of a question that is closed by now; 0 if the message names none.
	closed int
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
	// over is true if another message follows. The numbers then answer nothing any more.
	over bool
}

// oneOf returns the checkpoint that a message is about. open are the open checkpoints, latest
// first.
func (s *Service) oneOf(ctx context.Context, m Incoming, open []job.Checkpoint) (addressee, error) {
	earlier, err := s.askedWhich(ctx, m)
	if err != nil {
		return addressee{}, err
	}
	if to, ok := numbered(open, earlier, m.Content); ok || len(open) == 0 {
		return to, nil
	}
	if len(open) == 1 || !open[0].Type.Binding() {
		return addressee{checkpoint: &open[0], text: m.Content}, nil
	}
	if i := worded(open, m.Content); i >= 0 {
		return addressee{checkpoint: &open[i], text: m.Content}, nil
	}
	slices.Reverse(open) // the oldest is the first of the list
	return addressee{which: open}, nil
}

// numbered returns the checkpoint that a text names by its number in the list shown last, or reports
// that it is closed. If the text is only the number, the answer is the earlier text.
func numbered(open []job.Checkpoint, earlier *which, text string) (addressee, bool) {
	if earlier == nil {
		return addressee{}, false
	}
	question, rest, ok := intent.ByNumber(len(earlier.Checkpoints), text)
	if !ok {
		return addressee{}, false
	}
	i := slices.IndexFunc(open, func(c job.Checkpoint) bool { return c.ID == earlier.Checkpoints[question] })
	switch {
	case i >= 0 && !earlier.over:
		return addressee{checkpoint: &open[i], text: cmp.Or(rest, earlier.Text)}, true
	case i >= 0, len(open) > 0 && !slices.Contains(earlier.Checkpoints, open[0].ID): // the number may answer a newer question
		return addressee{}, false
	}
	return addressee{closed: question + 1}, true
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

const mostAfterList = 20

// askedWhich returns the latest question which checkpoint is meant; nil if the user has written
// something else since, or has named one of the list. A reply through another door, such as a button,
// closes a question of the list and leaves the numbers of the others what they are.
func (s *Service) askedWhich(ctx context.Context, m Incoming) (*which, error) {
	_, last, err := s.store.Chats.Messages(ctx, m.UserID, m.SessionID, 0, 1)
	if err != nil || last == 0 {
		return nil, err
	}
	found, _, err := s.store.Chats.Messages(ctx, m.UserID, m.SessionID, max(0, last-mostAfterList), mostAfterList)
	for _, said := range slices.Backward(found) {
		var list whichProps
		var reply job.ReplyProps
		switch {
		case said.Sender == job.FromUser:
			_, _, numbers := intent.ByNumber(mostAfterList, said.Content)
			if numbers || job.UnmarshalExact(said.Props, &reply) != nil || !reply.ResolvesCheckpoint {
				return nil, err
			}
		case said.MessageType == job.WhichMessage && job.UnmarshalExact(said.Props, &list) == nil && list.Which != nil:
			list.Which.over = said.ID != last
			return list.Which, err
		}
	}
	return nil, err
}

// askWhich stores a message in the chat and asks which checkpoint it is about. It returns the
// message's id.
func (s *Service) askWhich(ctx context.Context, m Incoming, open []job.Checkpoint) (int64, error) {
	lines := []string{fmt.Sprintf("%d questions are open here. Which one is “%s” about?", len(open), intent.Quote(m.Content))}
	asked := which{Text: m.Content}
	for i, c := range open {
		asked.Checkpoints = append(asked.Checkpoints, c.ID)
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, headline(c)))
	}
	lines = append(lines, `Answer one at a time, with its number: "1: yes".`)
	return s.sayBack(ctx, m, job.WhichMessage, strings.Join(lines, "\n"), job.MustJSON(whichProps{&asked}))
}

// noteClosed stores a message in the chat, and that the question that it names is closed.
func (s *Service) noteClosed(ctx context.Context, m Incoming, number int) (int64, error) {
	text := fmt.Sprintf("Question %d of the list is already closed, so “%s” did not answer anything.", number, intent.Quote(m.Content))
	return s.sayBack(ctx, m, job.NoticeMessage, text, nil)
}

// sayBack stores a message in the chat, which nobody else receives, and Ringback's response to it. It
// returns the message's id.
func (s *Service) sayBack(
	ctx context.Context, m Incoming, kind job.MessageType, text string, props json.RawMessage,
) (int64, error) {
	id, err := s.jobs.AppendMessage(ctx, m.UserID, m.SessionID, m.body(job.FromUser), nil)
	if err != nil {
		return 0, err
	}
	response := job.Text(job.FromAssistant, text)
	response.MessageType, response.Props = kind, props
	_, err = s.jobs.AppendMessage(ctx, m.UserID, m.SessionID, response, nil)
	return id, err
}

// headline describes a checkpoint in a list. Only the kind's title and a call stand for themselves:
// the asker's own words are shown as the asker's.
func headline(c job.Checkpoint) string {
	q := c.Question()
	f, _ := parse(c)
	line := intent.Quote(f.original())
	if title := cmp.Or(q.Title, q.Runs); title != "" {
		return intent.Quote(title) + ": " + line
	}
	if asker := c.Asker(); asker != "" {
		return asker + " asks: " + line
	}
	return line
}
