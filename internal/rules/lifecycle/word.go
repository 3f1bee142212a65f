package lifecycle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/excerpt"
)

// Word is a message to Claude as stored in the job's record.
type Word struct {
	job.Word
	// Queued is true for a steer that is queued until the end of the turn.
	Queued bool `json:"queued,omitempty"`
	// NoStart is true if the message may not start another job.
	NoStart bool `json:"noStart,omitempty"`
	// Bytes is the length of the text while it waits.
	Bytes int `json:"bytes,omitempty"`
}

// Words are people's messages to a job, oldest first.
type Words []Word

// keptWords is the maximum number of messages in a record, unless more are waiting.
const keptWords = 50

// Offer contains messages that were sent to a running turn, but that Claude may not have read: the
// response may have been lost with its server.
type Offer struct {
	// Token is next to the messages. It is unpredictable, so any text that contains it was written
	// after the offer was read.
	Token string `json:"token"`
	// Messages are the offered messages, and Steers the offered steers. Replies are the questions whose
	// replies are offered.
	Messages []int64            `json:"messages,omitempty"`
	Steers   []int64            `json:"steers,omitempty"`
	Replies  []job.CheckpointID `json:"replies,omitempty"`
	// BeforeToolCall is the number of the turn's next tool call.
	BeforeToolCall int `json:"beforeToolCall"`
}

// heardData is the event data of a message that Claude has read.
type heardData struct {
	// SessionID is the chat.
	SessionID string `json:"sessionId"`
	job.Word
}

// addWord adds a message for a job's Claude to its chat.
func (st *State) addWord(j *Job, body job.MessageBody, queued bool) int64 {
	body.Hearing = &job.Hearing{Status: job.Waiting}
	id := st.addMessage(j.chat(), body, EndedByTurn)
	words := append(slices.Clone(j.Words), Word{
		Word: job.Word{MessageID: id, Hearing: *body.Hearing}, Queued: queued, Bytes: len(body.Content),
	})
	over := len(words) - keptWords
	j.Words = slices.DeleteFunc(words, func(w Word) bool {
		drop := over > 0 && w.Status == job.Heard
		if drop {
			over--
		}
		return drop
	})
	return id
}

// leaveToNextTurn records that a steer begins the next turn.
func (j *Job) leaveToNextTurn(message int64) {
	j.Offer = nil
	j.Words = j.Words.with(func(w *Word) {
		if w.MessageID == message {
			w.Queued = false
		}
	})
}

// putWordsInPrompt records that the prompt of the starting turn contains all waiting messages.
func (j *Job) putWordsInPrompt() {
	j.Words = j.Words.with(func(w *Word) {
		if w.Status == job.Waiting && !w.Queued {
			w.Turn = j.Turn
		}
	})
}

// with returns a copy with every word changed. The loaded record keeps the original.
func (w Words) with(change func(*Word)) Words {
	changed := slices.Clone(w)
	for i := range changed {
		change(&changed[i])
	}
	return changed
}

// handOver gives the messages that Claude has not read to the job that follows. Those in the prompt of a process
// that still exists stay: only its end shows whether it has read them.
func (j *Job) handOver(to *Job) {
	kept := 0
	if j.Owner != "" {
		kept = min(j.DeliveredMessages, len(j.PendingMessages))
	}
	to.PendingMessages = slices.Concat(j.PendingMessages[kept:], to.PendingMessages)
	j.PendingMessages = j.PendingMessages[:kept]
	var waiting, rest Words
	for _, w := range j.Words {
		if w.Status != job.Waiting || kept > 0 && w.Turn == j.Turn {
			rest = append(rest, w)
			continue
		}
		w.Turn = 0
		waiting = append(waiting, w)
	}
	to.Words, j.Words = append(waiting, to.Words...), rest
}

// markPromptRead records that Claude has read the messages in the turn's prompt.
func (st *State) markPromptRead(j *Job) {
	st.markRead(j, 1, func(w Word) bool { return w.Turn == j.Turn })
}

// markRead records that the running turn has read waiting messages.
func (st *State) markRead(j *Job, beforeToolCall int, which func(Word) bool) {
	j.Words = j.Words.with(func(w *Word) {
		if w.Status != job.Waiting || !which(*w) {
			return
		}
		w.Hearing, w.Queued, w.Bytes = job.Hearing{
			Status: job.Heard, Turn: j.Turn, BeforeToolCall: beforeToolCall, At: st.Now,
		}, false, 0
		st.do(TouchMessage{&Session{UserID: j.UserID, ID: j.SessionID}, w.MessageID, st.Now, &w.Hearing})
		st.emit(j.recipient(), job.EventHeard, heardData{j.SessionID, w.Word})
	})
}

// Step is a point at which a running turn can receive messages.
type Step struct {
	// Hook is true if all tools of the step have ended, as reported by the CLI's hook.
	Hook bool
	// Answers is the output of these tools. Answered are the calls of the CLI's own question tool that
	// have given Claude the person's answers.
	Answers  string
	Answered []string
	// BeforeToolCall is the number of the turn's next tool call.
	BeforeToolCall int
	// Subagents is true if a subagent may have made the call instead of Claude itself.
	Subagents bool
}

// Offered is an offer of messages as sent to a running turn.
type Offered struct {
	Token string
	Turn  int
	Words []job.Utterance
	// Proxied is true if the next request to the model's API shows whether Claude has read the
	// messages. If not, they count as read as soon as the response is written.
	Proxied bool
}

// OfferWords returns the messages that the running turn of a job should receive now, in the order
// in which they were written. It returns none while it is uncertain whether an earlier offer was
// read, and none if a subagent may receive them instead of Claude. An offer that was not read is
// repeated. A turn that a person has stopped receives none: its process is ended, so the messages are
// for the next turn. The context carries the turn's signature.
func (s *Service) OfferWords(ctx context.Context, id job.ID, at Step) (Offered, error) {
	token := job.NewOfferToken()
	return resultOf(
		ctx, s.run, Query{Job: id, Pending: true},
		func(st *State) (Offered, error) { return st.offerWords(at, token), nil },
	)
}

func (st *State) offerWords(at Step, token string) Offered {
	j := st.Job
	if j == nil || !j.listens() {
		return Offered{}
	}
	j.ackReplies(at)
	if at.Subagents && !j.Manual || j.isTurnInterrupted() ||
		j.Offer != nil && (!at.Hook || strings.Contains(at.Answers, j.Offer.Token)) {
		return Offered{}
	}
	o := &Offer{Token: token, BeforeToolCall: at.BeforeToolCall}
	var words []job.Utterance
	room := offerSize
	for _, w := range j.unreadWords(at.Hook) {
		if room -= w.size(); room < 0 {
			break
		}
		words = append(words, w.Utterance)
		switch {
		case w.steer:
			o.Steers = append(o.Steers, w.id)
		case w.replyTo != "":
			o.Replies = append(o.Replies, w.replyTo)
		default:
			o.Messages = append(o.Messages, w.id)
		}
	}
	if words == nil {
		return Offered{}
	}
	j.Offer = o
	return Offered{token, j.Turn, words, j.Proxied}
}

// ackReplies records which replies are in the output of the step's tools: their calls have received
// them, even if that has not been recorded yet.
func (j *Job) ackReplies(at Step) {
	for _, r := range j.UnreadReplies {
		if c := j.answered(r); c != nil && at.shows(*c) {
			j.forgetQuestion(r.Question)
		}
	}
}

// shows reports whether the output of the step's tools contains the reply to a checkpoint.
func (at Step) shows(c job.Checkpoint) bool {
	return strings.Contains(at.Answers, string(c.ID)) || slices.Contains(at.Answered, propsOf(c).ToolCallID)
}

// propsOf returns the props of a checkpoint that the server wrote. Those of Claude's own may have other
// types, and name no call and no action.
func propsOf(c job.Checkpoint) (props job.Props) {
	if job.UnmarshalExact(c.Props, &props) != nil {
		return job.Props{}
	}
	return props
}

// answered returns the checkpoint with an unread reply; nil if there is none.
func (j *Job) answered(r UnreadReply) *job.Checkpoint {
	unread := j.Unread.Get()
	if at := slices.IndexFunc(unread, func(c job.Checkpoint) bool { return c.ID == r.Answered }); at >= 0 {
		return &unread[at]
	}
	return nil
}

// listens reports whether Claude is at work and can receive messages. The stand-in ignores them.
func (j *Job) listens() bool {
	return j.State == job.Running && j.Phase == job.AtWork && !j.Submitted && (!j.Simulated || j.Manual)
}

// unreadWord is a waiting message, steer, or reply to a checkpoint.
type unreadWord struct {
	job.Utterance
	id      int64
	steer   bool
	replyTo job.CheckpointID
}

// offerSize is the maximum size of an offer in bytes: of a hook's response, the CLI shows Claude at
// most 10,000 characters. Longer messages begin the next turn.
const offerSize = 9000

// size returns the maximum number of bytes that a message takes.
func (w unreadWord) size() int {
	return len(job.MustJSON(w.Utterance)) + 5*strings.Count(w.Content, "`") + 5*strings.Count(w.Content, "@") + 2
}

// unreadWords returns the waiting messages that are not in the turn's prompt, in the order in which
// they were written. A reply waits once the tools of the step that asked have ended: its call may
// still receive it before that.
func (j *Job) unreadWords(stepEnded bool) []unreadWord {
	var all []unreadWord
	pending := j.Pending.Get()
	for _, m := range pending[min(j.DeliveredMessages, len(pending)):] {
		all = append(all, unreadWord{Utterance: m.Utterance(), id: m.ID})
	}
	for _, s := range j.QueuedSteers {
		all = append(
			all,
			unreadWord{
				Utterance: job.Utterance{Sender: job.FromUser, By: s.Reply.By, Content: SteerMessage(s.Reply.Reason)},
				id:        s.Reply.MessageID, steer: true,
			},
		)
	}
	for _, r := range j.UnreadReplies {
		if c := j.answered(r); c != nil && stepEnded {
			all = append(
				all,
				unreadWord{
					Utterance: job.Utterance{Sender: job.FromUser, By: c.Reply.By, Content: replyMessage(*c)},
					id:        c.Reply.MessageID, replyTo: r.Question,
				},
			)
		}
	}
	slices.SortStableFunc(all, func(a, b unreadWord) int { return cmp.Compare(a.id, b.id) })
	return all
}

// mostOfQuestion limits the bytes of a question that are repeated with its reply.
const mostOfQuestion = 500

// replyMessage returns what Claude reads of a reply that its call has not received.
func replyMessage(c job.Checkpoint) string {
	reply := job.MustJSON(job.Reply{Decision: c.Reply.Decision, Values: c.Reply.Values, Text: c.Reply.Text, Reason: c.Reply.Reason})
	text := fmt.Sprintf("reply to your question %q: %s", excerpt.Head(c.Message, mostOfQuestion), reply)
	if c.Reply.Decision != job.Approve {
		return text
	}
	text += "\nThe call that asked was cut off and did nothing. Make it again with exactly the same input"
	if propsOf(c).Action != "" {
		text += `, with "confirmed": true`
	}
	return text + ": the server knows what the user has allowed."
}

// BlockStop reports whether a running turn that ends without a result must continue, up to most
// times a turn. A turn that has submitted, given up, or asked a person may end. The context carries
// the turn's signature.
func (s *Service) BlockStop(ctx context.Context, id job.ID, most int) (bool, error) {
	return resultOf(ctx, s.run, Query{Job: id, RecordOnly: true}, func(st *State) (bool, error) {
		j := st.Job
		blocked := j != nil && j.listens() && j.FailureTurn != j.Turn && j.Blocks < most
		if blocked {
			j.Blocks++
		}
		return blocked, nil
	})
}

// HearWords records that a turn has read the offer with one of these tokens.
func (s *Service) HearWords(ctx context.Context, id job.ID, turn int, tokens []string) error {
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		j := st.Job
		if j != nil && j.Turn == turn && j.listens() && j.Offer != nil && slices.Contains(tokens, j.Offer.Token) {
			st.markOfferRead(j)
		}
		return nil
	})
}

// markOfferRead records that an offer was read, so its messages no longer wait.
func (st *State) markOfferRead(j *Job) {
	o := j.Offer
	j.Offer = nil
	for _, question := range o.Replies {
		j.forgetQuestion(question)
	}
	for _, id := range o.Messages {
		j.PendingMessages = slices.DeleteFunc(slices.Clone(j.PendingMessages), func(m int64) bool { return m == id })
	}
	j.QueuedSteers = j.QueuedSteers[min(len(o.Steers), len(j.QueuedSteers)):]
	all := slices.Concat(o.Messages, o.Steers)
	st.markRead(j, o.BeforeToolCall, func(w Word) bool { return slices.Contains(all, w.MessageID) })
}
