package lifecycle_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

func TestCancelSaysWhereItCameFrom(t *testing.T) {
	t.Parallel()
	for via, want := range map[string]string{job.ViaAPI: "Cancelled on request", job.ViaSlack: "Cancelled in Slack."} {
		s := newJobs(t, lifecycle.Options{})
		id := s.create(request("plain"))
		must.OK(t, s.Cancel(t.Context(), id, job.Actor{Via: via}))
		if j := s.get(id); j.State != job.Cancelled || j.ErrorCode != job.CodeCancelled || j.Error != want {
			t.Errorf("%s: the job is %s, %s: %s", via, j.State, j.ErrorCode, j.Error)
		}
		err := s.Cancel(t.Context(), id, job.Actor{Via: via})
		if e := refusal(err); e.Kind != job.Conflict || !strings.Contains(e.Message, "cancelled") {
			t.Errorf("%s: cancelled once more, it answers %v", via, err)
		}
	}
}

func TestRetryAppliesToWhatEndedWithoutAResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end func(s *jobs, id job.ID)
		may bool
	}{
		"pending":  {func(*jobs, job.ID) {}, false},
		"running":  {func(s *jobs, _ job.ID) { s.take() }, false},
		"received": {func(s *jobs, id job.ID) { s.take(); s.submit(id) }, false},
		"failed":   {func(s *jobs, id job.ID) { s.fail(id) }, true},
		"cancelled": {func(s *jobs, id job.ID) {
			must.OK(s.t, s.Cancel(s.t.Context(), id, job.Actor{}))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newJobs(t, lifecycle.Options{})
			id := s.create(request("plain"))
			c.end(s, id)
			err := s.Retry(t.Context(), id)
			if c.may && (err != nil || s.get(id).State != job.Pending) {
				t.Errorf("it is answered %v, and the job is %s", err, s.get(id).State)
			}
			if !c.may && refusal(err).Kind != job.Conflict {
				t.Errorf("it is answered %v", err)
			}
		})
	}
}

// Two jobs never continue one conversation at the same time.
func TestAJobIsNotRetriedWhileAnotherGoesOnWithItsConversation(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	first := s.create(request("plain"))
	s.fail(first)
	second := s.follower(first, "Go on")
	for _, state := range []job.State{job.Pending, job.Running} {
		err := s.Retry(t.Context(), first)
		if e := refusal(err); e.Kind != job.Conflict || !strings.Contains(e.Message, string(second)) || e.Hint == "" {
			t.Errorf("while the follow-up is %s it is answered %v", state, err)
		}
		s.take()
	}
	s.fail(second)
	s.retry(first)
	must.Equal(t, job.Conflict, refusal(s.Retry(t.Context(), second)).Kind, "the follow-up is retried beside the first")
	s.write("Hello?")
	if turn := s.take(); turn.Job.ID != first || !cmp.Equal(told(turn), []string{"Hello?"}) {
		t.Errorf("%s is told %q, want the job that was retried", turn.Job.ID, told(turn))
	}
}

// Nor do two processes of one job: the next turn waits for the end of the last one, and the last
// one's usage is recorded.
func TestARetryWaitsForTheProcessThatIsStillEnding(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	id := s.create(request("plain"))
	s.take()
	must.OK(t, s.Cancel(t.Context(), id, job.Actor{}))
	s.retry(id)
	if turn := s.take(); turn != nil {
		t.Fatalf("turn %d begins beside the process of the one before", turn.Job.Turn)
	}
	must.OK(t, s.Cancel(t.Context(), id, job.Actor{}))
	s.retry(id) // and again
	end := lifecycle.TurnEnd{ID: id, Turn: 1, Node: "n", Begun: true, Usage: job.Usage{OutputTokens: 5}}
	if state, err := s.EndTurn(t.Context(), end); state != job.Pending || err != nil {
		t.Fatalf("after the process's end the job is %q, %v", state, err)
	}
	if turn := s.take(); turn == nil || turn.Job.Turn != 2 || turn.Job.Usage.OutputTokens != 5 {
		t.Errorf("the next turn is %+v", turn)
	}
	if turn := s.take(); turn != nil {
		t.Errorf("turn %d begins as well", turn.Job.Turn)
	}
}

// If one caller retries a job while a message makes another job follow it, only one of the two
// continues the conversation, and that one receives the message.
func TestRetryAndFollowAtOnceMakeOneJobGoOn(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := newJobs(t, lifecycle.Options{})
		id := s.create(request("plain"))
		s.fail(id)
		s.write("Go on")
		var callers sync.WaitGroup
		callers.Go(func() {
			if err := s.Retry(t.Context(), id); err != nil && refusal(err).Kind != job.Conflict {
				t.Error(err)
			}
		})
		callers.Go(func() {
			if err := s.Follow(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
		callers.Wait()
		if turn := s.take(); turn == nil || !cmp.Equal(told(turn), []string{"Go on"}) {
			t.Errorf("the turn that goes on is %+v", turn)
		}
		if turn := s.take(); turn != nil {
			t.Errorf("%s goes on as well", turn.Job.ID)
		}
	}
}

func TestJobsOfOtherConversationsDoNotStopARetry(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	first := s.create(request("plain"))
	s.fail(first)
	s.create(request("plain")) // in the same session
	s.retry(first)
}
