package lifecycle

import (
	"slices"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/test/must"
)

// limited returns the end of a turn at a rate limit of Claude's.
func limited(l RateLimit) TurnEnd {
	return TurnEnd{
		ID: "req_00_a", Turn: 1, Node: "n", Begun: true, Again: true, Backoff: time.Second,
		Code: job.CodeUsageLimit, Message: "used up", RateLimit: &l,
	}
}

func TestATurnThatEndsAtALimit(t *testing.T) {
	t.Parallel()
	hour := now.Add(time.Hour)
	for name, c := range map[string]struct {
		prepare func(*Job)
		limit   RateLimit
		state   job.State
		phase   job.Phase
		attempt int
		code    job.Code
		reason  Reason
	}{
		"the first":              {func(*Job) {}, RateLimit{hour, true}, job.Pending, job.WaitingForLimit, 0, job.CodeUsageLimit, Limited},
		"the last attempt":       {func(j *Job) { j.Attempt = 1 }, RateLimit{hour, true}, job.Pending, job.WaitingForLimit, 1, job.CodeUsageLimit, Limited},
		"the answer is repeated": {func(j *Job) { j.ResumeReason = &ResumeReason{Reason: Replied} }, RateLimit{hour, true}, job.Pending, job.WaitingForLimit, 0, job.CodeUsageLimit, Replied},
		"Claude gave up before": {
			func(j *Job) { j.FailureTurn, j.FailureCode, j.FailureMessage = 1, job.CodeGaveUp, "no" },
			RateLimit{hour, true},
			job.Pending, job.Queued, 1, job.CodeGaveUp, "",
		},
		"a conversation that was lost": {func(j *Job) { j.Begun = true }, RateLimit{hour, true}, job.Pending, job.WaitingForLimit, 0, job.CodeUsageLimit, Limited},
		"for long, and nobody knows":   {func(j *Job) { j.BlockedSince = now.Add(-time.Hour) }, RateLimit{hour, false}, job.Expired, "", 0, "", ""},
		"for long, with an end":        {func(j *Job) { j.BlockedSince = now.Add(-time.Hour) }, RateLimit{hour, true}, job.Pending, job.WaitingForLimit, 0, job.CodeUsageLimit, Limited},
		"cancelled meanwhile":          {func(j *Job) { j.State, j.Phase = job.Cancelled, "" }, RateLimit{hour, true}, job.Cancelled, "", 0, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := jobIn("running")
			j := st.Job
			c.prepare(j)
			e := limited(c.limit)
			if name == "a conversation that was lost" {
				e.Begun = false
			}
			must.Get(st.endTurn(e))(t)
			if j.State != c.state || j.Phase != c.phase || j.Attempt != c.attempt {
				t.Errorf("the job is %s/%s with attempt %d, want %s/%s and %d", j.State, j.Phase, j.Attempt, c.state, c.phase, c.attempt)
			}
			if c.code != "" && (j.LastFailure == nil || j.LastFailure.ErrorCode != c.code) {
				t.Errorf("the last failure is %+v, want %s", j.LastFailure, c.code)
			}
			if c.reason != "" && (j.ResumeReason == nil || j.ResumeReason.Reason != c.reason) {
				t.Errorf("the next turn is told %+v, want %s", j.ResumeReason, c.reason)
			}
			if c.phase == job.WaitingForLimit && !j.PhaseUntil.Equal(c.limit.Until) {
				t.Errorf("it waits until %s", j.PhaseUntil)
			}
		})
	}
}

// Only consecutive rate limits count: a turn that ends otherwise starts the count again.
func TestATurnThatEndsOtherwiseEndsTheRowOfLimits(t *testing.T) {
	t.Parallel()
	st := jobIn("running")
	st.Job.BlockedSince = now.Add(-time.Minute)
	e := limited(RateLimit{})
	e.RateLimit, e.Code = nil, job.CodeCrashed
	if _, err := st.endTurn(e); err != nil || !st.Job.BlockedSince.IsZero() || st.Job.Attempt != 1 {
		t.Errorf("limited since %s, attempt %d, %v", st.Job.BlockedSince, st.Job.Attempt, err)
	}
}

func TestWhenALimitHasEndedTheJobIsQueued(t *testing.T) {
	t.Parallel()
	st := jobIn("running")
	must.Get(st.endTurn(limited(RateLimit{now.Add(time.Hour), true})))(t)
	st.Now, st.Effects = now.Add(time.Hour), nil
	st.Due.Set(st.Now)
	must.OK(t, st.fireForJob(RetryClock, st.Job.ID))
	enqueued := false
	for _, e := range st.Effects {
		_, isTurn := e.(EnqueueTurn)
		enqueued = enqueued || isTurn
	}
	if j := st.Job; j.Phase != job.Queued || !j.PhaseUntil.IsZero() || !enqueued {
		t.Errorf("the job is %s/%s until %s, enqueued: %t", j.State, j.Phase, j.PhaseUntil, enqueued)
	}
}

// At a daily budget, a job waits until 00:00 UTC and goes on then. If the day has turned since the
// budget was found used up, it goes on at once.
func TestADailyBudgetIsAwaitedUntilMidnight(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ ends, until time.Time }{
		"in the night":              {now, midnight},
		"just before the day turns": {midnight.Add(-time.Millisecond), midnight},
		"just after the day turned": {midnight.Add(time.Millisecond), time.Time{}},
		"long after the day turned": {midnight.Add(5 * time.Hour), time.Time{}},
		"in the moment of midnight": {midnight, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := jobIn("running")
			st.Now = c.ends
			used := job.Spending{Server: 1}.UsedUp(job.Spending{Server: 2}, today(now))
			e := TurnEnd{ID: st.Job.ID, Turn: 1, Node: "n", Begun: true, Budget: used, OnBudget: job.WaitOnBudget}
			must.Get(st.endTurn(e))(t)
			j := st.Job
			if j.State != job.Pending || j.Phase != job.WaitingForLimit || !j.PhaseUntil.Equal(c.until) {
				t.Fatalf("the job is %s/%s until %s, want %s", j.State, j.Phase, j.PhaseUntil, c.until)
			}
			if !slices.Contains(st.Effects, Effect(SetClock{RetryClock, string(j.ID), midnight})) {
				t.Errorf("it is not tried at midnight: %+v", st.Effects)
			}
			if st.Due.Set(midnight); st.Now.Before(midnight) {
				st.Now = midnight
			}
			if err := st.fireForJob(RetryClock, j.ID); err != nil || j.Phase != job.Queued || j.Attempt != 0 {
				t.Errorf("then the job is %s/%s with attempt %d, %v", j.State, j.Phase, j.Attempt, err)
			}
		})
	}
}

// A node that cannot start a turn costs no attempt and no conversation.
func TestATurnThatItsNodeCouldNotStartIsNoAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*Job)
		state   job.State
		phase   job.Phase
	}{
		"the first turn":   {func(*Job) {}, job.Pending, job.Queued},
		"the last attempt": {func(j *Job) { j.Attempt = 1 }, job.Pending, job.Queued},
		"a later turn":     {func(j *Job) { j.Begun = true }, job.Pending, job.Queued},
		"for too long":     {func(j *Job) { j.BlockedSince = now.Add(-time.Hour) }, job.Expired, ""},
		"after it ended":   {func(j *Job) { j.State, j.Phase = job.Cancelled, "" }, job.Cancelled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := jobIn("running")
			j := st.Job
			c.prepare(j)
			attempt, begun, conversation := j.Attempt, j.Begun, j.Conversation
			e := limited(RateLimit{})
			e.RateLimit, e.Begun, e.NodeFault, e.Backoff, e.Code = nil, false, true, time.Second, job.CodeSpawnFailed
			must.Get(st.endTurn(e))(t)
			if j.State != c.state || j.Phase != c.phase || j.Attempt != attempt {
				t.Errorf("the job is %s/%s with attempt %d, want %s/%s and %d", j.State, j.Phase, j.Attempt, c.state, c.phase, attempt)
			}
			if j.Begun != begun || begun && j.Conversation != conversation {
				t.Errorf("the conversation is %d, begun: %t; want %d, %t", j.Conversation, j.Begun, conversation, begun)
			}
			if c.state == job.Pending && !j.PhaseUntil.Equal(now.Add(time.Second)) {
				t.Errorf("it waits until %s", j.PhaseUntil)
			}
		})
	}
}

// If what ended a turn has ended in the store only, and the store has lost it, the job goes on.
func TestAnEndThatTheStoreHasLostIsNoAttempt(t *testing.T) {
	t.Parallel()
	for name, begun := range map[string]bool{"with its conversation": true, "without it": false} {
		st := jobIn("running")
		j := st.Job
		j.Begun, j.Attempt = true, j.MaxAttempts-1
		attempt := j.Attempt
		must.Get(st.endTurn(TurnEnd{ID: j.ID, Turn: j.Turn, Node: j.Owner, Begun: begun, Backoff: time.Second}))(t)
		if j.State != job.Pending || !j.PhaseUntil.Equal(now.Add(time.Second)) || j.Attempt != attempt || j.LastFailure.Error == "" || j.LastFailure.ErrorCode == "" {
			t.Errorf("%s: the job is %s until %s, with attempt %d after %+v", name, j.State, j.PhaseUntil, j.Attempt, j.LastFailure)
		}
	}
}

// A person's messages remain for the next turn if no process received them.
func TestMessagesOutliveATurnThatDidNotStart(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]TurnEnd{
		"its node could not":  {NodeFault: true, Backoff: time.Second, Code: job.CodeSpawnFailed},
		"it was not prepared": {Unstarted: true, Again: true, Backoff: time.Second, Code: job.CodeWorkspace},
		"a budget is used up": {Begun: true, Budget: &job.UsedBudget{Of: job.BudgetOfServer}, OnBudget: job.WaitOnBudget, Code: job.CodeBudgetExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := jobIn("running")
			st.Job.Begun, st.Job.PendingMessages, st.Job.DeliveredMessages = true, []int64{1, 2}, 2
			e.ID, e.Turn, e.Node = st.Job.ID, st.Job.Turn, st.Job.Owner
			if _, err := st.endTurn(e); err != nil || len(st.Job.PendingMessages) != 2 || st.Job.State != job.Pending || !st.Job.Begun {
				t.Errorf("the messages %d are left, the job is %s, %v", st.Job.PendingMessages, st.Job.State, err)
			}
		})
	}
}
