package lifecycle

import (
	"context"
	"slices"
	"time"

	"ringback/internal/job"
)

// Opening is a job that is about to be created, or to be retried.
type Opening struct {
	JobID        job.ID
	Kind, UserID string
	// IdempotencyKey is the key of the request; "" for none.
	IdempotencyKey string `json:",omitempty"`
}

// Reservation keeps two nodes from using the same slot of a quota for two jobs.
type Reservation struct {
	// Until is its expiry, by the store's clock. The job must be committed by then.
	Until time.Time
	// Before are the openings that were reserved earlier and may already be jobs.
	Before []Opening
}

// opening returns the job that a commit opens, if quotas count it.
func (st *State) opening() (o Opening, isNew, ok bool) {
	for _, j := range st.Jobs() {
		wasOpen := j.Loaded.State != "" && !j.Loaded.State.Terminal()
		if !wasOpen && !j.State.Terminal() && !j.Deleted && j.Interprets.Checkpoint == "" {
			return Opening{j.ID, j.Kind, j.UserID, j.IdempotencyKey}, j.Loaded.State == "", true
		}
	}
	return Opening{}, false, false
}

// checkQuotas rejects a commit that opens a job beyond a quota. Every command that creates or
// retries a job passes through here. Slots are counted from the lists of jobs, so none can be lost.
// A reservation holds a slot until the job is listed. The caller must call release, unless it is
// unknown whether the commit was made. repeated is true if the same request is about to open a job
// elsewhere; that job is then the result.
//
// Errors: TooMany; Unavailable while the store is unavailable.
func (s *Service) checkQuotas(ctx context.Context, st *State) (release func(), repeated bool, err error) {
	release = func() {}
	o, isNew, opens := st.opening()
	if !opens {
		return release, false, nil
	}
	ofKind := job.Quota{}
	if k, ok := s.current(o.Kind); ok {
		ofKind = k.Policy.Quota()
	}
	if ofKind == (job.Quota{}) && s.opts.UserQuota == (job.Quota{}) {
		return release, false, nil
	}
	r, err := s.store.Reserve(ctx, o)
	if err != nil {
		return release, false, err
	}
	st.Until = r.Until
	release = func() { s.store.Release(ctx, o) }
	if err = s.checkQuotaOfUser(ctx, st, o, isNew, r); err == nil {
		err = s.checkQuotaOfKind(ctx, st, o, isNew, r, ofKind)
	}
	if err != nil {
		release()
	}
	repeated = o.IdempotencyKey != "" && slices.ContainsFunc(r.Before, func(b Opening) bool { return b.UserID == o.UserID && b.IdempotencyKey == o.IdempotencyKey })
	return release, repeated, err
}

func (s *Service) checkQuotaOfUser(ctx context.Context, st *State, o Opening, isNew bool, r Reservation) error {
	q := s.opts.UserQuota
	if q == (job.Quota{}) {
		return nil
	}
	n, err := s.store.CountJobsOfUser(ctx, o.UserID, today(st.Now), r.Before)
	switch {
	case err != nil:
		return err
	case q.AtOnce > 0 && n.Open >= q.AtOnce:
		return job.Errorf(job.TooMany, "%d jobs of this user have not ended, and a user may have %d at once (JOBS_PER_USER_AT_ONCE)", n.Open, q.AtOnce).
			WithHint("Wait until one ends, or cancel one; GET /api/jobs lists them. Then send the request again.")
	case isNew && q.PerDay > 0 && n.Today >= q.PerDay:
		return st.noneToday("%d jobs were created for this user today, and a user may have %d a day (JOBS_PER_USER_PER_DAY)", n.Today, q.PerDay)
	}
	return nil
}

func (s *Service) checkQuotaOfKind(ctx context.Context, st *State, o Opening, isNew bool, r Reservation, q job.Quota) error {
	if q == (job.Quota{}) {
		return nil
	}
	n, err := s.store.CountJobsOfKind(ctx, o.Kind, today(st.Now), r.Before)
	switch {
	case err != nil:
		return err
	case q.AtOnce > 0 && n.Open >= q.AtOnce:
		return job.Errorf(job.TooMany, "%d jobs of the kind %q have not ended, and there may be %d at once (jobs_at_once)", n.Open, o.Kind, q.AtOnce).
			WithHint("Send the request again when one has ended.")
	case isNew && q.PerDay > 0 && n.Today >= q.PerDay:
		return st.noneToday("%d jobs of the kind %q were created today, and there may be %d a day (jobs_per_day)", n.Today, o.Kind, q.PerDay)
	}
	return nil
}

// noneToday returns the error for a job that a quota rejects until the next day.
func (st *State) noneToday(format string, args ...any) error {
	e := job.Errorf(job.TooMany, format, args...).WithHint("The day turns at 00:00 UTC. Send the request again then: Retry-After has the seconds.")
	e.RetryAfter = nextDay(st.Now).Sub(st.Now)
	return e
}

// today returns the start of the day (UTC).
func today(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }
