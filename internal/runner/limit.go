package runner

import (
	"context"
	"sync"
	"time"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
)

// limits keeps turns from being started while Claude's account is at a limit. It stands in
// the store, for all nodes of the account: when it may have ended, one turn tries.
type limits struct {
	// account is whose; empty where this node has no CLI, so that it meets none.
	account string
	pauses  store.Pauses

	mu sync.Mutex
	// trying is the job whose turn on this node tries; empty for none.
	trying job.ID
}

// The pauses where the API does not say when a limit ends, as multiples of Options.Backoff,
// and the longest ones: whoever has signed in again waits less long than for a quota.
const (
	firstPause         = 8
	longestPause       = 5 * time.Minute
	longestPauseSignIn = time.Minute
)

func newLimits(o Options) *limits {
	l := &limits{pauses: store.Pauses{First: firstPause * o.Backoff, Longest: longestPause}}
	if !o.Simulate {
		l.account = claude.Account(claude.Environ(o.Environ, 0))
	}
	return l
}

// lookAgain is how often a node looks whether the turn that tries has got through, and
// lookAnyway how often at a limit that lasts: somebody may have removed it.
const (
	lookAgain  = 500 * time.Millisecond
	lookAnyway = 30 * time.Second
)

// awaitLimit waits while Claude is at a limit. isTry is whether the next turn is to try if
// that has ended.
func (r *Runner) awaitLimit(ctx context.Context) (isTry bool) {
	for r.limits.account != "" {
		wait, isTried, err := r.store.LimitWait(ctx, r.limits.account)
		switch {
		case err != nil: // the store is away, as taking a job will find
			return false
		case isTried:
			wait = lookAgain
		case wait <= 0:
			return wait == 0
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(min(wait+time.Millisecond, lookAnyway)):
		}
	}
	return false
}

// tryLimit makes the turn of a job the one that tries. ok is false where it must not be
// started: another one tries.
func (r *Runner) tryLimit(ctx context.Context, id job.ID) (ok bool, err error) {
	ok, isTry, err := r.store.TryLimit(ctx, r.limits.account, id)
	if isTry {
		r.limits.set(id)
	}
	return ok, err
}

func (l *limits) set(id job.ID) {
	l.mu.Lock()
	l.trying = id
	l.mu.Unlock()
}

func (l *limits) isTrying(id job.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return id != "" && l.trying == id
}

// keepTrying says that the turn which tries is still there.
func (r *Runner) keepTrying(ctx context.Context) {
	r.limits.mu.Lock()
	id := r.limits.trying
	r.limits.mu.Unlock()
	if id == "" {
		return
	}
	if err := r.store.KeepTrying(ctx, r.limits.account, id); err != nil && ctx.Err() == nil {
		r.log.Warn("could not say that a turn tries whether a limit has ended", "requestId", id, "error", err)
	}
}

// stopTrying lets another turn try, where this job's did and says nothing of the limit.
func (r *Runner) stopTrying(id job.ID) {
	if !r.limits.isTrying(id) {
		return
	}
	r.limits.set("")
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if err := r.store.StopTrying(ctx, r.limits.account, id); err != nil { // its lease ends
		r.log.Warn("could not let another turn try whether a limit has ended", "requestId", id, "error", err)
	}
}

// answered ends the limit where the turn of a job tries, and the model has answered it.
func (r *Runner) answered(id job.ID) {
	if !r.limits.isTrying(id) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	ended, err := r.store.EndLimit(ctx, r.limits.account, id)
	if err != nil {
		return // tried again soon
	}
	r.limits.set("")
	if ended {
		r.log.Info("a limit of Claude's has ended: jobs are started again", "requestId", id)
	}
}

// reach notes that a turn ended at a limit, however long the store is away. It returns how
// long no turn is started.
func (r *Runner) reach(serving context.Context, id job.ID, code job.Code, message string, resetsAt time.Time) *lifecycle.Limit {
	reached := store.ReachedLimit{Code: code, Message: message, ResetsAt: resetsAt, Pauses: r.limits.pauses}
	if code == job.CodeSignedOut {
		reached.Pauses.Longest = longestPauseSignIn
	}
	until, isNew, err := r.reachLimit(serving, id, reached)
	for isKind(err, job.Unavailable) && serving.Err() == nil {
		select {
		case <-serving.Done():
		case <-time.After(pollInterval):
			until, isNew, err = r.reachLimit(serving, id, reached)
		}
	}
	if r.limits.isTrying(id) {
		r.limits.set("")
	}
	if err != nil {
		return &lifecycle.Limit{Until: time.Now().Add(reached.Pauses.First)}
	}
	fields := []any{"requestId", id, "code", code, "until", until.Until, "untilStated", until.Stated, "error", message}
	switch {
	case !isNew:
		r.log.Info("Claude is still at a limit", fields...)
	case code == job.CodeSignedOut:
		r.log.Error("Claude is signed out: no job is started until it is signed in again", fields...)
	default:
		r.log.Warn("Claude has reached a limit: no job is started until it ends", fields...)
	}
	return &until
}

func (r *Runner) reachLimit(serving context.Context, id job.ID, l store.ReachedLimit) (lifecycle.Limit, bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(serving), storeTimeout)
	defer cancel()
	return r.store.ReachLimit(ctx, r.limits.account, id, l)
}
