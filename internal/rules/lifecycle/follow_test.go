package lifecycle_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

// record returns a job's stored record and its input without the fields that differ between jobs: the
// creation time, the signature, and the state of the conversation.
func (s *jobs) record(id job.ID) map[string]string {
	s.t.Helper()
	prefix := "rb:{" + string(id[4:6]) + "}:"
	fields := must.Get(s.redis.Client.HGetAll(s.t.Context(), prefix+"job:"+string(id)).Result())(s.t)
	if len(fields) == 0 {
		s.t.Fatalf("%s has no record", id)
	}
	fields["input"] = must.Get(s.redis.Client.Get(s.t.Context(), prefix+"input:"+string(id)).Result())(s.t)
	for _, own := range []string{
		"version", "created", "updated", "signature", "root", "conversation", "begun", "costBefore", "words",
		"pendingMessages",
	} {
		delete(fields, own)
	}
	return fields
}

// A follow-up begins exactly like the job that it follows.
func TestAFollowUpIsMadeAsTheJobBeforeIt(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]lifecycle.Request{
		"of a plain kind":            request("plain"),
		"of a kind with a policy":    request("poem"),
		"more urgent than its kind":  {Kind: "poem", Options: job.Options{Priority: job.Interactive}},
		"less urgent than its kind":  {Kind: "plain", Options: job.Options{Priority: job.Batch}},
		"played by hand":             {Kind: "plain", Options: job.Options{Simulate: job.SimulateManual}},
		"played by the stand-in":     {Kind: "plain", Options: job.Options{Simulate: job.SimulateSuccess}},
		"a change":                   request("change"),
		"a change, played by hand":   {Kind: "change", Options: job.Options{Simulate: job.SimulateManual}},
		"a change without a review":  request("quick"),
		"of a kind that needs hands": {Kind: "ship", Options: job.Options{Simulate: job.SimulateManual, Priority: job.Batch}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newJobs(t, lifecycle.Options{})
			whole := request(r.Kind)
			whole.Options = r.Options
			first := s.create(whole)
			want := s.record(first)
			s.fail(first)
			must.Equal(t, want, s.record(s.follower(first, "Go on")))
		})
	}
}

func TestAnUrgentFollowUpGoesFirst(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	urgent := request("poem")
	urgent.Options.Priority = job.Interactive
	first := s.create(urgent)
	s.fail(first)
	other := request("poem")
	other.SessionID = "s2"
	s.create(other) // batch, and here before
	second := s.follower(first, "Go on")
	if turn := s.take(); turn == nil || turn.Job.ID != second {
		t.Errorf("the first turn is of %+v, want the urgent %s", turn, second)
	}
}

func TestManyFollowsOfOneJobMakeOne(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	first := s.create(request("plain"))
	s.fail(first)
	s.write("Go on")
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			if err := s.Follow(t.Context(), first); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	must.Equal(t, 2, len(s.all()), "jobs, want the first and the one that follows it")
	if turn := s.take(); !cmp.Equal(told(turn), []string{"Go on"}) {
		t.Errorf("it is told %q", told(turn))
	}
}

// A retried job receives its user's new messages itself.
func TestARetriedJobIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	id := s.create(request("plain"))
	s.fail(id)
	s.write("Go on")
	s.retry(id) // before the message's follow-up was created
	s.follow(id)
	if all := s.all(); len(all) != 1 {
		t.Fatalf("%d jobs go on with one conversation", len(all))
	}
	if turn := s.take(); !cmp.Equal(told(turn), []string{"Go on"}) {
		t.Errorf("it is told %q", told(turn))
	}
	s.fail(id)
	s.follow(id) // late: the message was read
	must.Equal(t, 1, len(s.all()), "jobs, and nothing that the second could be told")
	second := s.follower(id, "And now?")
	if turn := s.take(); turn.Job.ID != second || !cmp.Equal(told(turn), []string{"And now?"}) {
		t.Errorf("%s is told %q, want %s", turn.Job.ID, told(turn), second)
	}
}

func TestNothingFollowsAJobThatIsGone(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	s.follow("req_00_abcdefghijklmnopqrstuvwxyz")
	must.Equal(t, 0, len(s.all()), "jobs")
}

// If a reply was superseded, or is already being interpreted, no further job is started.
func TestAReplyIsInterpretedOnce(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	if !s.CanInterpret() {
		t.Fatal("there is no kind for it")
	}
	gone := lifecycle.Round{Checkpoint: "chk_00_abcdefghijklmnopqrstuvwxyz", Number: 1}
	must.OK(t, s.Interpret(t.Context(), gone, "", "u1", json.RawMessage(`{}`)))
	if turn := s.take(); turn != nil {
		t.Errorf("a turn of %s reads it", turn.Job.Kind)
	}
}

// If no job may continue a conversation by the time that it would start, the chat says so. The next
// message is taken up with the earlier ones, or refused.
func TestAMessageThatNoJobTakesUpIsNotDropped(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{UserQuota: job.Quota{AtOnce: 1}})
	first := s.create(request("plain"))
	s.fail(first)
	s.write("Go on")
	other := request("plain")
	other.SessionID = "s2"
	inTheWay := s.create(other)
	s.follow(first)
	const limit = "1 jobs of this user have not ended, and a user may have 1 at once (JOBS_PER_USER_AT_ONCE)"
	chat, _, err := s.store.Chats.Messages(t.Context(), "u1", "s1", 0, 100)
	if err != nil || len(chat) == 0 {
		t.Fatal(chat, err)
	}
	last := chat[len(chat)-1]
	if last.MessageType != job.NoticeMessage || !strings.Contains(last.Content, limit) || last.RequestID != first {
		t.Errorf("the chat ends with %+v", last)
	}
	events, _, err := s.store.Events.OfJob(t.Context(), s.get(first), 0, 100)
	if err != nil || !strings.Contains(string(events[len(events)-1].Frame()), limit) {
		t.Errorf("no event says so: %v", err)
	}
	_, err = s.AppendMessage(t.Context(), "u1", "s1", job.Text(job.FromUser, "Well?"), new(lifecycle.Addressee))
	if !job.HasKind(err, job.TooMany) || !strings.Contains(err.Error(), limit) {
		t.Errorf("the next message was answered %v", err)
	}
	must.OK(t, s.Cancel(t.Context(), inTheWay, job.Actor{}))
	s.follower(first, "Please")
	if turn := s.take(); !cmp.Equal(told(turn), []string{"Go on", "Please"}) {
		t.Errorf("it is told %q", told(turn))
	}
	s.follow(first) // late
	if now, _, err := s.store.Chats.Messages(t.Context(), "u1", "s1", 0, 100); err != nil || len(now) != len(chat)+1 {
		t.Errorf("the chat has %d messages after %d, %v", len(now), len(chat), err)
	}
}

// A reply waits until its call has received it, also if the first one was not understood, and if Claude
// asks something else in between.
func TestRepliesWaitUntilTheirCallsHaveThem(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	id := s.create(request("plain"))
	s.take()
	reply := func(asked job.CheckpointID, text string) {
		t.Helper()
		must.Get(s.Answer(t.Context(), s.checkpoint(asked), lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Text: text}}))(t)
	}
	waiting := func() int {
		t.Helper()
		offered := must.Get(s.OfferWords(t.Context(), id, lifecycle.Step{Hook: true}))(t)
		return len(offered.Words)
	}
	first := s.asks(id, job.InformationRequest, "", time.Minute)
	again := lifecycle.NewCheckpoint{RequestID: id, UserID: "u1", SessionID: "s1", Type: job.InformationRequest, Message: "Which?", Chat: job.Text(job.FromAssistant, "Which?")}
	must.Get(s.Answer(t.Context(), first, lifecycle.Resolution{To: job.Superseded, Reply: job.Reply{Text: "What?"}, Again: &again}))(t)
	reply(s.checkpoint(first.ID).Next, "This")
	second := s.asks(id, job.InformationRequest, "", time.Minute)
	reply(second.ID, "That")
	for _, c := range []struct {
		received job.CheckpointID
		want     int
	}{{"another", 2}, {first.ID, 1}, {second.ID, 0}} {
		must.OK(t, s.AckReply(t.Context(), id, c.received))
		must.Equal(t, c.want, waiting(), "after", c.received, "was received, … replies wait")
	}
}
