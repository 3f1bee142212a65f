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

	version string // of the kind
	// isNew is false for a retry, which counts for no day.
	isNew, simulated bool
}

func (j *Job) opening(isNew bool) Opening {
	return Opening{
		JobID: j.ID, Kind: j.Kind, UserID: j.UserID, IdempotencyKey: j.IdempotencyKey,
		version: j.KindVersion, isNew: isNew, simulated: j.Simulated,
	}
}

// Reservation keeps two nodes from using the same slot of a quota for two jobs.
type Reservation struct {
	// Until is its expiry, by the store's clock. The job must be committed by then.
	Until time.Time
	// Before are the openings that were reserved earlier and may already be jobs.
	Before []Opening
}

// openings returns the jobs that a commit opens, if quotas count them, and the job that will follow
// one because of the commit.
func (st *State) openings() (all []Opening) {
	for _, j := range st.Jobs() {
		wasOpen := j.Loaded.State != "" && !j.Loaded.State.Terminal()
		if !wasOpen && !j.State.Terminal() && j.Deleted == nil && j.Interprets.Checkpoint == "" {
			all = append(all, j.opening(j.Loaded.State == ""))
		}
	}
	if st.Followed != nil {
		all = append(all, st.Followed.opening(true))
	}
	return all
}

// checkOpenings rejects a commit that opens a job beyond a quota, or at a budget of the day at which
// its kind fails. Every command that creates, retries or will follow a job passes through here.
// Slots are counted from the lists of jobs, so none can be lost. A reservation holds a slot until
// the job is listed. The caller must call release, unless it is unknown whether the commit was made.
// repeated is true if the same request is about to open a job elsewhere; that job is then the
// result.
//
// Errors: TooMany; Unavailable while the store is unavailable.
func (s *Service) checkOpenings(ctx context.Context, st *State) (release func(), repeated bool, err error) {
	var reserved []Opening
	release = func() {
		for _, o := range reserved {
			s.store.Release(ctx, o)
		}
	}
	for _, o := range st.openings() {
		if err := s.checkBudgets(ctx, st, o); err != nil {
			release()
			return func() {}, false, err
		}
		ofKind := s.quotaOfKind(o.Kind)
		if ofKind == (job.Quota{}) && s.opts.UserQuota == (job.Quota{}) {
			continue
		}
		r, err := s.store.Reserve(ctx, o)
		if err != nil {
			release()
			return func() {}, false, err
		}
		reserved = append(reserved, o)
		if st.Until.IsZero() {
			st.Until = r.Until
		}
		if err = s.checkQuotaOfUser(ctx, st, o, r); err == nil {
			err = s.checkQuotaOfKind(ctx, st, o, r, ofKind)
		}
		if err != nil {
			release()
			return func() {}, r.repeats(o), err
		}
	}
	return release, false, nil
}

// repeats reports whether the same request is about to open a job elsewhere.
func (r Reservation) repeats(o Opening) bool {
	return o.IdempotencyKey != "" &&
		slices.ContainsFunc(r.Before, func(b Opening) bool { return b.UserID == o.UserID && b.IdempotencyKey == o.IdempotencyKey })
}

func (s *Service) quotaOfKind(name string) job.Quota {
	if k, ok := s.current(name); ok {
		return k.Policy.Quota()
	}
	return job.Quota{}
}

func (s *Service) checkQuotaOfUser(ctx context.Context, st *State, o Opening, r Reservation) error {
	q := s.opts.UserQuota
	if q == (job.Quota{}) {
		return nil
	}
	n, err := s.store.CountJobsOfUser(ctx, o.UserID, today(st.Now), r.Before)
	switch {
	case err != nil:
		return err
	case q.AtOnce > 0 && n.Open >= q.AtOnce:
		return job.Errorf(
			job.TooMany, "%d jobs of this user have not ended, and a user may have %d at once (JOBS_PER_USER_AT_ONCE)", n.Open,
			q.AtOnce,
		).
			WithHint("Wait until one ends, or cancel one; GET /api/jobs lists them. Then send the request again.")
	case o.isNew && q.PerDay > 0 && n.Today >= q.PerDay:
		return st.noneToday(
			"%d jobs were created for this user today, and a user may have %d a day (JOBS_PER_USER_PER_DAY)", n.Today, q.PerDay,
		)
	}
	return nil
}

func (s *Service) checkQuotaOfKind(ctx context.Context, st *State, o Opening, r Reservation, q job.Quota) error {
	if q == (job.Quota{}) {
		return nil
	}
	n, err := s.store.CountJobsOfKind(ctx, o.Kind, today(st.Now), r.Before)
	switch {
	case err != nil:
		return err
	case q.AtOnce > 0 && n.Open >= q.AtOnce:
		return job.Errorf(
			job.TooMany, "%d jobs of the kind %q have not ended, and there may be %d at once (jobs_at_once)", n.Open, o.Kind,
			q.AtOnce,
		).
			WithHint("Send the request again when one has ended.")
	case o.isNew && q.PerDay > 0 && n.Today >= q.PerDay:
		return st.noneToday(
			"%d jobs of the kind %q were created today, and there may be %d a day (jobs_per_day)", n.Today, o.Kind, q.PerDay,
		)
	}
	return nil
}

// noneToday returns the error for a job that is rejected until the next day.
func (st *State) noneToday(format string, args ...any) error {
	e := job.Errorf(job.TooMany, format, args...).WithHint(
		"The day turns at 00:00 UTC. Send the request again then: Retry-After has the seconds.",
	)
	e.RetryAfter = nextDay(st.Now).Sub(st.Now)
	return e
}

// today returns the start of the day (UTC).
func today(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }
