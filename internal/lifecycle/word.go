package lifecycle

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"ringback/internal/job"
)

// Word is a message to Claude as the job's record keeps it.
type Word struct {
	job.Word
	// Queued is true for a steer that waits for the end of the turn.
	Queued bool `json:"queued,omitempty"`
}

// Words are what people have written to a job, oldest first.
type Words []Word

// keptWords is how many words a record keeps beside those that wait.
const keptWords = 50

// Offer is what a running turn was told and has perhaps not heard: the answer may have been lost
// with its server.
type Offer struct {
	// Token stands beside the words. Nobody knows it before: whatever holds it was written after
	// the offer was read.
	Token string `json:"token"`
	// Messages are its messages, Steers those that are steers.
	Messages []int64 `json:"messages,omitempty"`
	Steers   []int64 `json:"steers,omitempty"`
	// BeforeToolCall is which tool call of the turn comes next.
	BeforeToolCall int `json:"beforeToolCall"`
}

// heardData is the data of the event that Claude has heard a message.
type heardData struct {
	// SessionID is the chat.
	SessionID string `json:"sessionId"`
	job.Word
}

// addWord adds a message to a chat that is for a job's Claude.
func (st *State) addWord(j *Job, in chat, body job.MessageBody, queued bool) int64 {
	body.Hearing = &job.Hearing{Status: job.Waiting}
	id := st.addMessage(in, body, EndedByTurn)
	words := append(slices.Clone(j.Words), Word{job.Word{MessageID: id, Hearing: *body.Hearing}, queued})
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

// leaveToNextTurn notes that a steer begins the next turn.
func (j *Job) leaveToNextTurn(message int64) {
	j.Offer = nil
	j.Words = j.Words.with(func(w *Word) {
		if w.MessageID == message {
			w.Queued = false
		}
	})
}

// tellWords notes that the prompt of the turn that starts holds all words that wait.
func (j *Job) tellWords() {
	j.Words = j.Words.with(func(w *Word) {
		if w.Status == job.Waiting && !w.Queued {
			w.Turn = j.Turn
		}
	})
}

// with is a copy in which each word was changed: the record that was loaded keeps the others.
func (w Words) with(change func(*Word)) Words {
	changed := slices.Clone(w)
	for i := range changed {
		change(&changed[i])
	}
	return changed
}

// handOver divides the words of a job that another follows: those that wait go with the follower.
func (j *Job) handOver() (waiting, rest Words) {
	for _, w := range j.Words {
		if w.Status == job.Waiting {
			w.Turn = 0
			waiting = append(waiting, w)
		} else {
			rest = append(rest, w)
		}
	}
	return waiting, rest
}

// hearPrompt notes that Claude has heard what the turn's prompt holds.
func (st *State) hearPrompt(j *Job) {
	st.hear(j, 1, func(w Word) bool { return w.Turn == j.Turn })
}

// hear notes that the running turn has heard words that waited.
func (st *State) hear(j *Job, beforeToolCall int, which func(Word) bool) {
	j.Words = j.Words.with(func(w *Word) {
		if w.Status != job.Waiting || !which(*w) {
			return
		}
		w.Hearing, w.Queued = job.Hearing{Status: job.Heard, Turn: j.Turn, BeforeToolCall: beforeToolCall, At: st.Now}, false
		st.do(TouchMessage{&Session{UserID: j.UserID, ID: j.SessionID}, j.Retention, w.MessageID, st.Now, &w.Hearing})
		st.emit(j.recipient(), job.EventHeard, heardData{j.SessionID, w.Word})
	})
}

// Step is a moment at which a running turn can be told something.
type Step struct {
	// Hook is true if all tools of the step have ended, which the CLI's hook says.
	Hook bool
	// Answers is what they answered.
	Answers string
	// BeforeToolCall is which tool call of the turn comes next.
	BeforeToolCall int
}

// Offered is what a running turn is told.
type Offered struct {
	Token string
	Turn  int
	Words []job.Utterance
	// Proxied is true if the next request to the model's API shows whether it was heard. Else it
	// counts as heard when the answer was written.
	Proxied bool
}

// OfferWords takes what the running turn of a job is to be told now, in the order in which it was
// written; nothing while it is not certain whether an earlier offer was heard. Whatever was
// offered and not heard is offered again. The context carries the turn's signature.
func (s *Service) OfferWords(ctx context.Context, id job.ID, at Step) (Offered, error) {
	var offered Offered
	token := job.OfferTokens + strings.ToLower(rand.Text())
	err := s.run(ctx, Query{Job: id, Pending: true, Steers: true}, func(st *State) error {
		offered = st.offerWords(at, token)
		return nil
	})
	return offered, err
}

func (st *State) offerWords(at Step, token string) Offered {
	j := st.Job
	if j == nil || !j.listens() || j.Offer != nil && (!at.Hook || strings.Contains(at.Answers, j.Offer.Token)) {
		return Offered{}
	}
	o := &Offer{Token: token, BeforeToolCall: at.BeforeToolCall}
	var words []job.Utterance
	room := offerSize
	for _, w := range j.unheard() {
		if room -= w.size(); room < 0 {
			break
		}
		words = append(words, w.Utterance)
		if w.steer {
			o.Steers = append(o.Steers, w.id)
		} else {
			o.Messages = append(o.Messages, w.id)
		}
	}
	if words == nil {
		return Offered{}
	}
	j.Offer = o
	return Offered{token, j.Turn, words, j.Proxied}
}

// listens reports whether Claude is at work and can be told something. The stand-in heeds nothing.
func (j *Job) listens() bool {
	return j.State == job.Running && j.Phase == job.AtWork && !j.Submitted && (!j.Simulated || j.Manual)
}

// unheardWord is a message or a steer that waits.
type unheardWord struct {
	job.Utterance
	id    int64
	steer bool
}

// offerSize bounds an offer in bytes: of what a hook answers, the CLI shows Claude no more than
// 10,000 characters. Longer messages begin the next turn.
const offerSize = 9000

// size is how many bytes a word takes at most.
func (w unheardWord) size() int {
	text, err := json.Marshal(w.Utterance)
	if err != nil {
		panic("lifecycle: " + err.Error()) // it is made of texts
	}
	return len(text) + 5*strings.Count(w.Content, "`") + 5*strings.Count(w.Content, "@") + 2
}

// unheard is what waits and is not in the turn's prompt, in the order in which it was written.
func (j *Job) unheard() []unheardWord {
	var all []unheardWord
	for _, m := range j.Pending[min(j.DeliveredMessages, len(j.Pending)):] {
		all = append(all, unheardWord{job.Utterance{Sender: m.Sender, Content: m.Content}, m.ID, false})
	}
	for _, s := range j.Queued {
		all = append(all, unheardWord{job.Utterance{Sender: job.FromUser, Content: SteerMessage(s.Reply.Reason)}, s.Reply.MessageID, true})
	}
	slices.SortStableFunc(all, func(a, b unheardWord) int { return cmp.Compare(a.id, b.id) })
	return all
}

// BlockStop reports whether a running turn that ends without a result is to go on, at most most
// times a turn. A turn that has submitted, given up, or asked a person may end. The context carries
// its signature.
func (s *Service) BlockStop(ctx context.Context, id job.ID, most int) (bool, error) {
	var blocked bool
	err := s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		j := st.Job
		blocked = j != nil && j.listens() && j.FailureTurn != j.Turn && j.Blocks < most
		if blocked {
			j.Blocks++
		}
		return nil
	})
	return blocked, err
}

// HearWords notes that a turn has heard what was offered to it with one of these tokens.
func (s *Service) HearWords(ctx context.Context, id job.ID, turn int, tokens []string) error {
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		j := st.Job
		if j != nil && j.Turn == turn && j.listens() && j.Offer != nil && slices.Contains(tokens, j.Offer.Token) {
			st.hearOffer(j)
		}
		return nil
	})
}

// hearOffer notes that what was offered is heard: it waits no more.
func (st *State) hearOffer(j *Job) {
	o := j.Offer
	j.Offer = nil
	for _, id := range o.Messages {
		st.do(DropPending{j.ID, id})
		j.PendingMessages = max(0, j.PendingMessages-1)
	}
	for range o.Steers {
		st.do(DequeueSteer{j.ID})
	}
	all := slices.Concat(o.Messages, o.Steers)
	st.hear(j, o.BeforeToolCall, func(w Word) bool { return slices.Contains(all, w.MessageID) })
}
