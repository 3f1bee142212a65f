package notify

import (
	"errors"
	"math/rand/v2"
	"time"
)

// schedule is how long to wait before each further try: for three days, as Standard Webhooks
// recommends, but often in the first minutes. A receiver that restarts is away for seconds.
var schedule = []time.Duration{
	5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Retry says whether, and after how long, a message is sent again that failed
// for the attempt-th time (from 1). Whatever the receiver itself asks for wins.
func Retry(err error, attempt int) (after time.Duration, again bool) {
	e, ok := errors.AsType[*CallError](err)
	if ok && e.permanent() || attempt > len(schedule) {
		return 0, false
	}
	if ok && e.After > 0 {
		return e.After, true
	}
	wait := schedule[max(0, attempt-1)]
	return wait + time.Duration(rand.Int64N(int64(wait)/5+1)), true //nolint:gosec // jitter needs no secrecy
}
