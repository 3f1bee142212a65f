package lifecycle

import (
	"time"

	"ringback/internal/job"
)

// AccountLimit is a rate limit of Claude's that an account has reached, and which job's turn tries whether it has ended:
// a job has one turn at a time. The zero value is no limit. All times are by the store's clock.
type AccountLimit struct {
	Code    job.Code `store:"code"`
	Message string   `store:"message"`
	// Since is when the account reached the limit, Until when that ends, and TriesAt when a turn may try.
	Since   time.Time `store:"since"`
	Until   time.Time `store:"until"`
	TriesAt time.Time `store:"tries_at"`
	// Stated is true if Until came from the API.
	Stated bool `store:"stated"`
	// Tries counts the tries that have failed.
	Tries int `store:"tries"`
	// Job is the job whose turn tries, Began when that turn began to, and Lease until when it is believed to run.
	Job   job.ID    `store:"job"`
	Began time.Time `store:"began"`
	Lease time.Time `store:"lease"`
	// Free is when the turn began to try that has found the limit gone.
	Free time.Time `store:"free"`

	// Now and Grace are those of State.
	Now   time.Time     `store:"-"`
	Grace time.Duration `store:"-"`
}

const (
	// tryLease is the lease of the turn that tries.
	tryLease = 30 * time.Second
	// longestLimit caps how far ahead an API may place the end of a limit: the longest limits are weekly.
	longestLimit = 8 * 24 * time.Hour
	// triesAnyway is the time after which another turn tries, however late a limit claims to end. Code
	// that runs in a job controls what the job's process prints: it must not stop the jobs of others
	// for days.
	triesAnyway = 15 * time.Minute
)

// Pauses are the waits for a limit for which the API does not report an end: First, doubled after
// each failed try, at most Longest.
type Pauses struct{ First, Longest time.Duration }

// ReachedRateLimit is the limit at which a turn ended.
type ReachedRateLimit struct {
	Code    job.Code
	Message string
	// ResetsAt is the end of the limit as reported by the API; zero if not reported.
	ResetsAt time.Time
	Pauses   Pauses
	// Took is the time since the turn began, if it is known: a limit that a later turn found gone does not return.
	Took time.Duration
}

// isTriedByOther reports whether the turn of another job tries, as far as is known.
func (l *AccountLimit) isTriedByOther(id job.ID) bool {
	return l.Job != "" && l.Job != id && (l.Lease.After(l.Now) || l.Grace > 0)
}

// Wait returns how long no turn is started: 0 if one turn may now try whether the limit has ended, negative if
// there is no limit or a turn is trying. isTried is true if one is.
func (l *AccountLimit) Wait() (wait time.Duration, isTried bool) {
	switch {
	case l.Until.IsZero():
		return -1, false
	case l.TriesAt.After(l.Now):
		return l.TriesAt.Sub(l.Now), false
	case l.isTriedByOther(""):
		return -1, true
	}
	return 0, false
}

// Try lets a job's turn try whether the limit has ended. ok is false if another turn is trying or it is too
// early; isTry is true if there still is a limit.
func (l *AccountLimit) Try(id job.ID) (ok, isTry bool) {
	switch {
	case l.Until.IsZero():
		return true, false
	case l.TriesAt.After(l.Now), l.isTriedByOther(id):
		return false, false
	}
	l.Job, l.Began = id, l.Now
	l.RenewTry(id)
	return true, true
}

// RenewTry renews the lease of the turn that tries.
func (l *AccountLimit) RenewTry(id job.ID) {
	if l.Job == id {
		l.Lease = l.Now.Add(tryLease)
	}
}

// StopTrying lets another turn try: that of the job did not find out whether the limit has ended.
func (l *AccountLimit) StopTrying(id job.ID) {
	if l.Job == id {
		l.Job, l.Lease = "", time.Time{}
	}
}

// End ends the limit because a job's turn got through, if that is the turn that tries.
func (l *AccountLimit) End(id job.ID) bool {
	if l.Job != id {
		return false
	}
	*l = AccountLimit{Free: l.Began, Now: l.Now, Grace: l.Grace}
	return true
}

// Reach records that a job's turn ended at the limit. It returns how long the job waits, and whether the limit is new.
func (l *AccountLimit) Reach(id job.ID, r ReachedRateLimit) (until RateLimit, isNew bool) {
	now, stated := l.Now, r.statedEnd(l.Now)
	mine := l.Job == id
	switch {
	case l.isTriedByOther(id): // whether it has ended is about to be known
		return RateLimit{Until: latest(l.Until, now.Add(r.Pauses.First))}, false
	case now.Add(-r.Took).Before(l.Free): // the turn may have met the limit before that was found gone
		return RateLimit{Until: latest(l.Until, now), Stated: l.Stated && l.Until.After(now)}, false
	case !mine && l.Until.After(now) && !stated.After(l.Until): // turns ran at the same time
		return RateLimit{Until: l.Until, Stated: l.Stated}, false
	}
	if isNew = l.Until.IsZero(); isNew {
		l.Since = now
	}
	failed := 0
	if mine {
		l.Tries++
		failed = l.Tries
	}
	l.Code, l.Message, l.Stated, l.Until = r.Code, r.Message, !stated.IsZero(), stated
	if !l.Stated {
		l.Until = now.Add(min(r.Pauses.First<<min(failed, 20), r.Pauses.Longest))
	}
	l.TriesAt = l.Until
	if anyway := now.Add(triesAnyway); anyway.Before(l.TriesAt) {
		l.TriesAt = anyway
	}
	l.StopTrying(l.Job)
	return RateLimit{Until: l.Until, Stated: l.Stated}, isNew
}

// statedEnd returns the end that the API reports, within bounds; zero if it reports none, or one that has passed.
func (r ReachedRateLimit) statedEnd(now time.Time) time.Time {
	switch most := now.Add(longestLimit); {
	case !r.ResetsAt.After(now):
		return time.Time{}
	case r.ResetsAt.After(most):
		return most
	}
	return r.ResetsAt.Truncate(time.Millisecond)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
