package runner

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/claude"
)

// rateLimits keeps turns from starting while Claude's account is rate-limited. The state is in
// the store, shared by all nodes of the account. When the limit may have ended, one turn
// probes it.
type rateLimits struct {
	// environ is the CLI's environment; nil if this node has no CLI and therefore no limits.
	environ []string
	// login is the last one that could be read, and logins reads it, once at a time.
	login  atomic.Value // string
	logins singleflight.Group
	pauses lifecycle.Pauses
	// probe is this node's turn that tries whether the limit of an account has ended; nil for none.
	probe atomic.Pointer[probe]
}

type probe struct {
	job     job.ID
	account string
}

// loginTime is the time in which a login is usually read.
const loginTime = 50 * time.Millisecond

// account returns the account that a turn started now would use; empty for none. A user's
// login can change at any time. If it cannot be read in time, for example because a file system hangs, the last known
// one counts: heartbeats do not wait.
func (l *rateLimits) account() string {
	if l.environ == nil {
		return ""
	}
	select {
	case <-l.logins.DoChan("", func() (any, error) {
		login, err := claude.Login(l.environ)
		if err == nil {
			l.login.Store(login)
		}
		return nil, err
	}):
	case <-time.After(loginTime):
	}
	login, _ := l.login.Load().(string)
	return claude.Account(l.environ, login)
}

// probeOf returns the probe if it is the turn of a job; else nil.
func (l *rateLimits) probeOf(id job.ID) *probe {
	if p := l.probe.Load(); p != nil && p.job == id {
		return p
	}
	return nil
}

// modelAnswered reports whether the model has responded to the turn of a job.
func (r *Runner) modelAnswered(id job.ID, printed *claude.Reader) bool {
	if seen := r.uses.of(id).answers; seen != nil {
		return seen.Answered()
	}
	return printed.Answered
}

// confirm compares a limit that a turn's output reports with the API's responses, if they
// are known: any program of a turn can write to that output.
func (r *Runner) confirm(id job.ID, code job.Code, message string, resetsAt time.Time) (job.Code, string, time.Time) {
	seen := r.uses.of(id).answers
	if seen == nil || !code.IsRateLimit() {
		return code, message, resetsAt
	}
	if refused := seen.Refused(); refused != nil {
		known, words := claude.ExplainRefusal(refused.Status, refused.Type, refused.Message, !refused.ResetsAt.IsZero())
		if known != "" {
			return known, string(mask([]byte(words), r.secrets)), refused.ResetsAt
		}
	}
	r.log.Warn("limit ignored: the model API did not answer with it", "requestId", id, "code", code)
	return job.CodeCrashed, "Claude ended with an error: it reported a limit that the model's API did not.", time.Time{}
}

// The pauses if the API does not report when a limit ends. firstPause is a multiple of
// Options.Backoff; the others are maximums. longestPauseSignIn is shorter, so that jobs
// start soon after a person has signed in again.
const (
	firstPause         = 8
	longestPause       = 5 * time.Minute
	longestPauseSignIn = time.Minute
)

func newRateLimits(o Options) *rateLimits {
	l := &rateLimits{pauses: lifecycle.Pauses{First: firstPause * o.Backoff, Longest: longestPause}}
	if !o.Simulate {
		l.environ = claude.Environ(o.Environ, 0)
	}
	return l
}

// probePollInterval is the interval at which a node checks whether the probe has succeeded, and
// limitPollInterval the interval for a limit with a later end: a person may have removed it.
const (
	probePollInterval = 500 * time.Millisecond
	limitPollInterval = 30 * time.Second
)

// rateLimitWait returns how long no turn that calls Claude is started, because Claude is rate-limited. isTry is set
// if the next turn is to probe whether the limit has ended.
func (r *Runner) rateLimitWait(ctx context.Context) (wait time.Duration, isTry bool) {
	account := r.rateLimits.account()
	if account == "" {
		return 0, false
	}
	var isTried bool
	err := r.store.Limits.Update(ctx, account, func(l *lifecycle.AccountLimit) { wait, isTried = l.Wait() })
	switch {
	case err != nil: // the store is unavailable, as the attempt to take a job will show
		return 0, false
	case isTried:
		return probePollInterval, false
	case wait <= 0:
		return 0, wait == 0
	}
	return min(wait+time.Millisecond, limitPollInterval), false
}

// tryRateLimit makes the turn of a job the probe. ok is false if the turn must not be
// started because another one is the probe.
func (r *Runner) tryRateLimit(ctx context.Context, id job.ID) (ok bool, err error) {
	account := r.rateLimits.account()
	var isTry bool
	err = r.store.Limits.Update(ctx, account, func(l *lifecycle.AccountLimit) { ok, isTry = l.Try(id) })
	if isTry {
		r.rateLimits.probe.Store(&probe{id, account})
	}
	return ok, err
}

func (r *Runner) renewProbe(ctx context.Context) {
	p := r.rateLimits.probe.Load()
	if p == nil {
		return
	}
	err := r.store.Limits.Update(ctx, p.account, func(l *lifecycle.AccountLimit) { l.RenewTry(p.job) })
	if err != nil && ctx.Err() == nil {
		r.log.Warn("could not renew rate-limit probe", "requestId", p.job, "error", err)
	}
}

// stopProbe lets another turn be the probe if this job's turn was it and gave no result.
func (r *Runner) stopProbe(id job.ID) {
	p := r.rateLimits.probeOf(id)
	if p == nil {
		return
	}
	r.rateLimits.probe.Store(nil)
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	r.releaseProbe(ctx, *p)
}

// releaseProbe lets another turn be the probe immediately.
func (r *Runner) releaseProbe(ctx context.Context, p probe) {
	if p.account == "" {
		return
	}
	// Its lease expires.
	err := r.store.Limits.Update(ctx, p.account, func(l *lifecycle.AccountLimit) { l.StopTrying(p.job) })
	r.warnIf(err, "could not release rate-limit probe", "requestId", p.job)
}

// answered ends the limit if the job's turn is the probe and the model has responded to it.
func (r *Runner) answered(id job.ID) {
	p := r.rateLimits.probeOf(id)
	if p == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	ended, err := r.store.Limits.End(ctx, p.account, id)
	if err != nil {
		return // retried soon
	}
	r.rateLimits.probe.Store(nil)
	if ended {
		r.log.Info("rate limit ended: starting jobs again", "requestId", id)
	}
}

// accountOf returns the account of a turn, which an earlier start may have started.
func (r *Runner) accountOf(use apiUse) string { return cmp.Or(use.account, r.rateLimits.account()) }

// reach records that a turn ended at a limit, and retries while the store is unavailable.
// It returns how long no turn is started.
func (r *Runner) reach(
	serving context.Context, id job.ID, code job.Code, message string, resetsAt time.Time,
) *lifecycle.RateLimit {
	reached := lifecycle.ReachedRateLimit{Code: code, Message: message, ResetsAt: resetsAt, Pauses: r.rateLimits.pauses}
	if code == job.CodeSignedOut {
		reached.Pauses.Longest = longestPauseSignIn
	}
	use := r.uses.of(id)
	if !use.begun.IsZero() {
		reached.Took = time.Since(use.begun)
	}
	var until lifecycle.RateLimit
	var isNew bool
	err := r.withStore(serving, id, func() (err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(serving), storeTimeout)
		defer cancel()
		return r.store.Limits.Update(ctx, r.accountOf(use), func(l *lifecycle.AccountLimit) { until, isNew = l.Reach(id, reached) })
	})
	if r.rateLimits.probeOf(id) != nil {
		r.rateLimits.probe.Store(nil)
	}
	if err != nil {
		return &lifecycle.RateLimit{Until: time.Now().Add(reached.Pauses.First)}
	}
	fields := []any{"requestId", id, "code", code, "until", until.Until, "untilStated", until.Stated, "error", message}
	switch {
	case !isNew:
		r.log.Info("turn ended at a known rate limit", fields...)
	case code == job.CodeSignedOut:
		r.log.Error("Claude is signed out: no jobs are started", fields...)
	default:
		r.log.Warn("rate limit reached: no jobs are started until it ends", fields...)
	}
	return &until
}
