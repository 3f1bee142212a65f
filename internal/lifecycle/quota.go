package lifecycle

import (
	"context"
	"slices"
	"time"

	"ringback/internal/job"
)

// Opening is a job that is about to be created, or to go on after its end.
type Opening struct {
	JobID        job.ID
	Kind, UserID string
	// IdempotencyKey is that of the request; "" for none.
	IdempotencyKey string `json:",omitempty"`
}

// Reservation keeps two nodes from giving the same place to two jobs.
type Reservation struct {
	// Until is when it lapses, by the store's time. The job has to be committed by then.
	Until time.Time
	// Before are the openings that were reserved earlier and may be jobs already.
	Before []Opening
}

// opening returns the job that the commit of a state opens, if a quota counts it.
func (st *State) opening() (o Opening, isNew, ok bool) {
	for _, j := range st.Jobs() {
		wasOpen := j.Loaded.State != "" && !j.Loaded.State.Terminal()
		if !wasOpen && !j.State.Terminal() && !j.Deleted && j.Interprets.Checkpoint == "" {
			return Opening{j.ID, j.Kind, j.UserID, j.IdempotencyKey}, j.Loaded.State == "", true
		}
	}
	return Opening{}, false, false
}

// checkQuotas refuses a commit that opens a job for which there is no place. Every way to create
// or to retry a job comes through here. A place is counted from the lists of jobs, so that none
// can be lost; a reservation holds it until the job is in them. Release ends that: it is to be
// called unless it is unknown whether the commit was made. repeated is true if the same request
// is about to open a job elsewhere, which is then this one's.
//
// Errors: TooMany; Unavailable while the store is away.
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

// noneToday refuses a job until the day turns.
func (st *State) noneToday(format string, args ...any) error {
	e := job.Errorf(job.TooMany, format, args...).WithHint("The day turns at 00:00 UTC. Send the request again then: Retry-After has the seconds.")
	e.RetryAfter = nextDay(st.Now).Sub(st.Now)
	return e
}

// today is when the day began.
func today(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }
