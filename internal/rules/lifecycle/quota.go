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
		quotas := s.quotasFor(o)
		if len(quotas) == 0 {
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
		for _, q := range quotas {
			if err := s.checkQuota(ctx, st, q, o, r); err != nil {
				release()
				return func() {}, r.repeats(o), err
			}
		}
	}
	return release, false, nil
}

// repeats reports whether the same request is about to open a job elsewhere.
func (r Reservation) repeats(o Opening) bool {
	return o.IdempotencyKey != "" &&
		slices.ContainsFunc(r.Before, func(b Opening) bool { return b.UserID == o.UserID && b.IdempotencyKey == o.IdempotencyKey })
}

// quota limits the jobs of a user or of a kind.
type quota struct {
	job.Quota
	kind, user string
	// atOnce and perDay are the texts of errors, of the count, the limit and the kind.
	atOnce, hint, perDay string
}

// quotasFor returns the quotas that a job counts for.
func (s *Service) quotasFor(o Opening) (all []quota) {
	if s.opts.UserQuota != (job.Quota{}) {
		all = append(all, quota{
			Quota: s.opts.UserQuota, user: o.UserID,
			atOnce: "%[1]d jobs of this user have not ended, and a user may have %[2]d at once (JOBS_PER_USER_AT_ONCE)",
			hint:   "Wait until one ends, or cancel one; GET /api/jobs lists them. Then send the request again.",
			perDay: "%[1]d jobs were created for this user today, and a user may have %[2]d a day (JOBS_PER_USER_PER_DAY)",
		})
	}
	if k, ok := s.current(o.Kind); ok && k.Policy.Quota() != (job.Quota{}) {
		all = append(all, quota{
			Quota: k.Policy.Quota(), kind: o.Kind,
			atOnce: "%[1]d jobs of the kind %[3]q have not ended, and there may be %[2]d at once (jobs_at_once)",
			hint:   "Send the request again when one has ended.",
			perDay: "%[1]d jobs of the kind %[3]q were created today, and there may be %[2]d a day (jobs_per_day)",
		})
	}
	return all
}

func (s *Service) checkQuota(ctx context.Context, st *State, q quota, o Opening, r Reservation) error {
	n, err := s.store.CountJobs(ctx, q.kind, q.user, today(st.Now), r.Before)
	switch {
	case err != nil:
		return err
	case q.AtOnce > 0 && n.Open >= q.AtOnce:
		return job.Errorf(job.TooMany, q.atOnce, n.Open, q.AtOnce, q.kind).WithHint("%s", q.hint)
	case o.isNew && q.PerDay > 0 && n.Today >= q.PerDay:
		return st.noneToday(q.perDay, n.Today, q.PerDay, q.kind)
	}
	return nil
}

// noneToday returns the error for a job that is rejected until the next day.
func (st *State) noneToday(format string, args ...any) error {
	e := job.Errorf(job.TooMany, format, args...).WithHint(
		"Send the request again after 00:00 UTC: Retry-After has the number of seconds.",
	)
	e.RetryAfter = nextDay(st.Now).Sub(st.Now)
	return e
}

// today returns the start of the day (UTC).
func today(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }
