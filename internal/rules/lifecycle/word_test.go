package lifecycle

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// listening returns a job at work to which people have written: message 1 is in the turn's prompt,
// the others wait, and 3 is a steer.
func listening() *State {
	st := jobIn("running")
	j := st.Job
	j.Turn, j.PendingMessages, j.DeliveredMessages, j.Proxied = 2, []int64{1, 2, 4}, 1, true
	for _, id := range []int64{1, 2, 4} {
		m := job.Message{ID: id, MessageBody: job.Text(job.FromUser, strings.Repeat("x", int(id)))}
		j.Pending.Set(append(j.Pending.Get(), m))
		j.Words = append(j.Words, Word{Word: job.Word{MessageID: id, Hearing: job.Hearing{Status: job.Waiting}}})
	}
	j.QueuedSteers = []QueuedSteer{{Reply: job.Reply{MessageID: 3, Reason: "Smaller"}}}
	j.Words = append(j.Words, Word{Word: job.Word{MessageID: 3, Hearing: job.Hearing{Status: job.Waiting}}, Queued: true})
	j.putWordsInPrompt()
	st.markPromptRead(j)
	j.Words[1].Turn, j.Words[2].Turn = 0, 0
	j.Words[1].Status, j.Words[2].Status = job.Waiting, job.Waiting
	return st
}

// A job that cannot read now accepts a limited number of messages. Its next prompt would contain all of
// them.
func TestFewMessagesWaitForAJob(t *testing.T) {
	t.Parallel()
	write := map[string]func(*State) error{
		"in the chat": func(st *State) error {
			_, err := st.appendMessage(Options{}, Query{}, job.Text(job.FromUser, "Well?"), true)
			return err
		},
		"with an interruption": func(st *State) error { return st.interrupt(st.Job.ID, Interruption{Message: "Well?"}) },
	}
	for where, write := range write {
		st := jobIn("running")
		st.Latest.Set(st.Job)
		st.Job.DeliveredMessages = 3 // the running turn has read them
		st.Job.PendingMessages = make([]int64, 3+maxUnread-1)
		must.OK(t, write(st), where, "the last message that may wait is refused:")
		st.Job.Interrupt = nil
		before := len(st.Effects)
		if err := write(st); !job.HasKind(err, job.TooMany) {
			t.Errorf("%s: one too many is answered %v", where, err)
		}
		if len(st.Effects) != before || st.Job.Interrupt != nil || len(st.Job.PendingMessages) != 3+maxUnread {
			t.Errorf("%s: it was refused, and did %v", where, st.Effects[before:])
		}
		must.OK(t, st.interrupt(st.Job.ID, Interruption{}), "an interruption without a message is refused:")
	}
}

// Their texts are limited, too, however few they are. Those that the running turn has read do not count.
func TestFewBytesWaitForAJob(t *testing.T) {
	t.Parallel()
	st := jobIn("running")
	j := st.Job
	st.Latest.Set(j)
	j.Turn = 1
	write := func(bytes int) error {
		_, err := st.appendMessage(Options{}, Query{}, job.Text(job.FromUser, strings.Repeat("x", bytes)), true)
		return err
	}
	whole := func(where string) {
		t.Helper()
		for _, bytes := range []int{maxUnreadBytes - 10, 10} {
			must.OK(t, write(bytes), where, bytes, "bytes are refused:")
		}
		if err := write(1); !job.HasKind(err, job.TooMany) {
			t.Errorf("%s: a byte too many is answered %v", where, err)
		}
	}
	whole("at first")
	j.Turn++
	j.DeliveredMessages = len(j.PendingMessages)
	j.putWordsInPrompt()
	whole("when a turn has begun with all that waited")
	st.markRead(j, 1, func(Word) bool { return true })
	whole("when all are heard")
}

func contents(o Offered) string {
	var all []string
	for _, w := range o.Words {
		all = append(all, w.Content)
	}
	return strings.Join(all, ", ")
}

// heardIDs returns the messages that are heard according to the record.
func heardIDs(j *Job) []int64 {
	var ids []int64
	for _, w := range j.Words {
		if w.Status == job.Heard {
			ids = append(ids, w.MessageID)
		}
	}
	slices.Sort(ids)
	return ids
}

const waiting = "xx, steer: Smaller, xxxx"

// Waiting messages are offered in the order in which they were written, and wait until it is
// certain that Claude has read them.
func TestWordsAreOfferedUntilTheyAreHeard(t *testing.T) {
	t.Parallel()
	st := listening()
	if o := st.offerWords(Step{Hook: true, BeforeToolCall: 4}, "word_a"); contents(o) != waiting || !o.Proxied || o.Turn != 2 {
		t.Fatalf("offered %+v", o)
	}
	must.Equal(t, nil, st.offerWords(Step{}, "word_b").Words, "a callback before the next step is told")
	again := st.offerWords(Step{Hook: true, Answers: "… word_a …"}, "word_b")
	must.Equal(t, nil, again.Words, "what a tool has answered in this step is told once more")
	if got := heardIDs(st.Job); !slices.Equal(got, []int64{1}) {
		t.Errorf("%v are heard before a request holds them", got)
	}
	must.Equal(t, waiting, contents(st.offerWords(Step{Hook: true, BeforeToolCall: 5}, "word_c")), "after a lost answer")
	st.markOfferRead(st.Job)
	if got := heardIDs(st.Job); !slices.Equal(got, []int64{1, 2, 3, 4}) || st.Job.Offer != nil {
		t.Errorf("%v are heard", got)
	}
	if w := st.Job.Words[1]; w.Turn != 2 || w.BeforeToolCall != 5 || w.At != st.Now {
		t.Errorf("message 2 was heard %+v", w)
	}
	if j := st.Job; !slices.Equal(j.PendingMessages, []int64{1}) || len(j.QueuedSteers) > 0 {
		t.Errorf("the messages %d and %d steers wait for the next turn", j.PendingMessages, len(j.QueuedSteers))
	}
}

// Claude has read its prompt when it calls back, whatever it has printed by then.
func TestACallbackHearsThePrompt(t *testing.T) {
	t.Parallel()
	for name, ctx := range map[string]context.Context{"a callback": WithSignature(t.Context(), "signature"), "another command": t.Context()} {
		st := listening()
		st.Job.Words[0].Hearing = job.Hearing{Status: job.Waiting, Turn: 2}
		st.noteCallback(ctx)
		isHeard := st.Job.Words[0].Status == job.Heard
		if isHeard != (name == "a callback") || st.Job.Words[1].Status != job.Waiting {
			t.Errorf("%s: the words are %+v", name, st.Job.Words)
		}
	}
}

// The reply to a call that may be lost is offered when its step has ended, unless the call or a prompt
// has delivered it.
func TestAnUnreadReplyIsOffered(t *testing.T) {
	t.Parallel()
	reply := job.Checkpoint{ID: "c2", Message: "Which?", Props: json.RawMessage(`{"tool_call_id":"toolu_1"}`), Reply: &job.Reply{Text: "This", MessageID: 3}}
	const text = `reply to your question "Which?": {"text":"This"}`
	for name, c := range map[string]struct {
		change func(*State)
		step   Step
		want   string
	}{
		"lost":               {func(*State) {}, Step{Hook: true}, text},
		"in the step":        {func(*State) {}, Step{}, ""},
		"delivered":          {func(st *State) { st.Job.forgetQuestion("c1") }, Step{Hook: true}, ""},
		"in the next prompt": {func(st *State) { st.prepareTurn(st.Job, "") }, Step{Hook: true}, ""},
		"in the output":      {func(*State) {}, Step{Hook: true, Answers: `… "checkpointId":"c2" …`}, ""},
		"in an old output": {func(st *State) {
			st.Job.Offer = &Offer{Token: "word_b"}
			st.offerWords(Step{Hook: true, Answers: "word_b c2"}, "word_c")
			st.Job.Offer = nil
		}, Step{Hook: true}, ""},
		"of the CLI's tool": {func(*State) {}, Step{Hook: true, Answered: []string{"toolu_1"}}, ""},
		"of another tool":   {func(*State) {}, Step{Hook: true, Answered: []string{"toolu_2", ""}}, text},
		"read":              {func(st *State) { st.offerWords(Step{Hook: true}, "word_b"); st.markOfferRead(st.Job) }, Step{Hook: true}, ""},
	} {
		st := jobIn("running")
		st.Job.UnreadReplies, st.Job.QuestionID = UnreadReplies{{Question: "c1", Answered: "c2"}}, "c1"
		st.Job.Unread.Set([]job.Checkpoint{reply})
		c.change(st)
		must.Equal(t, c.want, contents(st.offerWords(c.step, "word_a")), name, "offered")
	}
}

// Nothing is offered to a turn that cannot receive it.
func TestWhoIsToldNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Job){
		"captured":  func(j *Job) { j.Phase = job.Capturing },
		"submitted": func(j *Job) { j.Submitted = true },
		"queued":    func(j *Job) { j.State, j.Phase = job.Pending, job.Queued },
		"stopped":   func(j *Job) { j.Interrupt = &job.Interrupt{Turn: j.Turn, Scope: job.InterruptTurn} },
		"asked":     func(j *Job) { j.State, j.Phase = job.AwaitingInput, job.Held },
		"too long":  func(j *Job) { j.Pending.Get()[1].Content = strings.Repeat("`", offerSize/6+1) },
	} {
		st := listening()
		change(st.Job)
		if o := st.offerWords(Step{Hook: true}, "word_a"); o.Words != nil || st.Job.Offer != nil {
			t.Errorf("%s: told %v", name, o.Words)
		}
	}
}

// A steer that Claude has not read answers the review, and its offer no longer counts.
func TestAnUnheardSteerBeginsTheNextTurn(t *testing.T) {
	t.Parallel()
	st := listening()
	st.offerWords(Step{Hook: true}, "word_a")
	st.Job.leaveToNextTurn(3)
	if st.Job.Offer != nil || st.Job.Words[3].Queued {
		t.Errorf("left are %+v and %+v", st.Job.Offer, st.Job.Words[3])
	}
	st.Job.Turn++
	st.Job.putWordsInPrompt()
	st.markPromptRead(st.Job)
	if w := st.Job.Words[3]; w.Status != job.Heard || w.Turn != 3 || w.BeforeToolCall != 1 {
		t.Errorf("it was heard %+v", w)
	}
}
