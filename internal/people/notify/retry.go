package notify

import (
	"errors"
	"math/rand/v2"
	"time"
)

const (
	// triedFor is the maximum time to retry a message, as Standard Webhooks recommends.
	triedFor = 3 * 24 * time.Hour
	// firstWait and longestWait bound the time between two tries. A receiver that restarts
	// is unavailable for seconds.
	firstWait, longestWait = 5 * time.Second, 12 * time.Hour
)

// Retry returns whether to retry a failed message that has been tried for age, and after
// how long: its age, with jitter, within bounds. A receiver may ask for another delay.
func Retry(err error, age time.Duration) (after time.Duration, again bool) {
	e, ok := errors.AsType[*CallError](err)
	if ok && e.permanent() || age >= triedFor {
		return 0, false
	}
	if ok && e.After > 0 {
		return e.After, true
	}
	wait := min(max(age, firstWait), longestWait)
	return wait + time.Duration(rand.Int64N(int64(wait)/5+1)), true //nolint:gosec // jitter needs no secrecy
}
