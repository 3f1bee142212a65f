package runner

import (
	"context"
	"sync"
	"time"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
	"ringback/internal/upstream"
)

// limits keeps turns from starting while Claude's account is rate-limited. The state is in
// the store, shared by all nodes of the account. When the limit may have ended, one turn
// probes it.
type rateLimits struct {
	// signIn identifies the account; nil if this node has no CLI and therefore no limits.
	signIn *claude.SignIn
	pauses store.Pauses

	mu sync.Mutex
	// trying is the job of this node's probe, empty for none; tried is the account that it
	// uses.
	trying job.ID
	tried  string
	// started are the accounts with which the turns of jobs were started.
	started map[job.ID]string
	// answers are the API's responses to turns that this server proxies.
	answers map[job.ID]*upstream.Answers
}

// account returns the account that a turn started now would use; empty for none.
func (l *rateLimits) account() string {
	if l.signIn == nil {
		return ""
	}
	return l.signIn.Account()
}

// begin records the account with which the turn of a job is started; end removes it.
func (l *rateLimits) begin(id job.ID, account string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started[id] = account
}

func (l *rateLimits) end(id job.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.started, id)
	delete(l.answers, id)
}

// watch records the API's responses to the turn of a job from now on.
func (l *rateLimits) watch(id job.ID) *upstream.Answers {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[id] = &upstream.Answers{}
	return l.answers[id]
}

// watched returns the API's recorded responses; nil if the turn's CLI calls the API itself.
func (l *rateLimits) watched(id job.ID) *upstream.Answers {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers[id]
}

// modelAnswered reports whether the model has responded to a turn.
func (t *claudeTurn) modelAnswered() bool {
	if seen := t.r.rateLimits.watched(t.job.ID); seen != nil {
		return seen.Answered()
	}
	return t.out.reader.Answered()
}

// confirm compares a limit that a turn's output reports with the API's responses, if they
// are known: any program of a turn can write to that output.
func (r *Runner) confirm(id job.ID, code job.Code, message string, resetsAt time.Time) (job.Code, string, time.Time) {
	seen := r.rateLimits.watched(id)
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

// accountOf returns the account with which the turn of a job was started. For a turn that an
// earlier start has left, it returns the current account.
func (l *rateLimits) accountOf(id job.ID) string {
	l.mu.Lock()
	account, known := l.started[id]
	l.mu.Unlock()
	if known {
		return account
	}
	return l.account()
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
	l := &rateLimits{pauses: store.Pauses{First: firstPause * o.Backoff, Longest: longestPause}, started: map[job.ID]string{}, answers: map[job.ID]*upstream.Answers{}}
	if !o.Simulate {
		l.signIn = claude.NewSignIn(claude.Environ(o.Environ, 0))
	}
	return l
}

// lookAgain is the interval at which a node checks whether the probe has succeeded, and
// limitPollInterval the interval for a limit with a later end: a person may have removed it.
const (
	lookAgain         = 500 * time.Millisecond
	limitPollInterval = 30 * time.Second
)

// awaitRateLimit waits, as pause does, while Claude is rate-limited. isTry is set if the next turn is
// to probe whether the limit has ended. ok is false if ctx has ended.
func (r *Runner) awaitRateLimit(ctx context.Context) (isTry, ok bool) {
	for {
		account := r.rateLimits.account()
		if account == "" {
			return false, true
		}
		wait, isTried, err := r.store.RateLimitWait(ctx, account)
		switch {
		case err != nil: // the store is unavailable, as the attempt to take a job will show
			return false, true
		case isTried:
			wait = lookAgain
		case wait <= 0:
			return wait == 0, true
		}
		if !pause(ctx, r, time.After(min(wait+time.Millisecond, limitPollInterval))) {
			return false, false
		}
	}
}

// tryRateLimit makes the turn of a job the probe. ok is false if the turn must not be
// started because another one is the probe.
func (r *Runner) tryRateLimit(ctx context.Context, id job.ID) (ok bool, err error) {
	account := r.rateLimits.account()
	ok, isTry, err := r.store.TryRateLimit(ctx, account, id)
	if isTry {
		r.rateLimits.set(id, account)
	}
	return ok, err
}

func (l *rateLimits) set(id job.ID, account string) {
	l.mu.Lock()
	l.trying, l.tried = id, account
	l.mu.Unlock()
}

// now returns the job of this node's probe, and the account that it uses.
func (l *rateLimits) now() (job.ID, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trying, l.tried
}

func (l *rateLimits) isTrying(id job.ID) bool {
	trying, _ := l.now()
	return id != "" && trying == id
}

// keepTrying renews the lease of the probe.
func (r *Runner) keepTrying(ctx context.Context) {
	id, account := r.rateLimits.now()
	if id == "" {
		return
	}
	if err := r.store.KeepTrying(ctx, account, id); err != nil && ctx.Err() == nil {
		r.log.Warn("could not say that a turn tries whether a limit has ended", "requestId", id, "error", err)
	}
}

// stopTrying lets another turn be the probe if this job's turn was it and gave no result.
func (r *Runner) stopTrying(id job.ID) {
	trying, account := r.rateLimits.now()
	if id == "" || trying != id {
		return
	}
	r.rateLimits.set("", "")
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if err := r.store.StopTrying(ctx, account, id); err != nil { // its lease expires
		r.log.Warn("could not let another turn try whether a limit has ended", "requestId", id, "error", err)
	}
}

// takeOverTry lets another turn be the probe immediately if the turn of a lost node was it.
func (r *Runner) takeOverTry(ctx context.Context, id job.ID) {
	account := r.rateLimits.account()
	if account == "" {
		return
	}
	if err := r.store.StopTrying(ctx, account, id); err != nil && ctx.Err() == nil { // its lease expires
		r.log.Warn("could not let another turn try whether a limit has ended", "requestId", id, "error", err)
	}
}

// answered ends the limit if the job's turn is the probe and the model has responded to it.
func (r *Runner) answered(id job.ID) {
	trying, account := r.rateLimits.now()
	if id == "" || trying != id {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	ended, err := r.store.EndRateLimit(ctx, account, id)
	if err != nil {
		return // retried soon
	}
	r.rateLimits.set("", "")
	if ended {
		r.log.Info("a limit of Claude's has ended: jobs are started again", "requestId", id)
	}
}

// reach records that a turn ended at a limit, and retries while the store is unavailable.
// It returns how long no turn is started.
func (r *Runner) reach(serving context.Context, id job.ID, code job.Code, message string, resetsAt time.Time) *lifecycle.RateLimit {
	reached := store.ReachedRateLimit{Code: code, Message: message, ResetsAt: resetsAt, Pauses: r.rateLimits.pauses}
	if code == job.CodeSignedOut {
		reached.Pauses.Longest = longestPauseSignIn
	}
	until, isNew, err := r.reachRateLimit(serving, id, reached)
	for job.HasKind(err, job.Unavailable) && serving.Err() == nil {
		select {
		case <-serving.Done():
		case <-time.After(pollInterval):
			until, isNew, err = r.reachRateLimit(serving, id, reached)
		}
	}
	if r.rateLimits.isTrying(id) {
		r.rateLimits.set("", "")
	}
	if err != nil {
		return &lifecycle.RateLimit{Until: time.Now().Add(reached.Pauses.First)}
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

func (r *Runner) reachRateLimit(serving context.Context, id job.ID, l store.ReachedRateLimit) (lifecycle.RateLimit, bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(serving), storeTimeout)
	defer cancel()
	return r.store.ReachRateLimit(ctx, r.rateLimits.accountOf(id), id, l)
}
