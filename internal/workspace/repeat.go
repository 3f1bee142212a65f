package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringback/internal/lazy"
)

// publishFor is the time for which publishing is retried before a person is asked.
const publishFor = 2 * time.Minute

// The delay between two attempts starts at firstDelay and doubles up to longestWait.
const (
	firstDelay  = 500 * time.Millisecond
	longestWait = 15 * time.Second
)

// Repeat calls do until it succeeds, is refused for good, or the time is up. report is called with
// each failure that is retried.
func Repeat(
	ctx context.Context, most time.Duration, what string, report func(string), refused func(error) bool, do func() error,
) error {
	limit := time.Now().Add(most)
	for delay := firstDelay; ; delay = min(2*delay, longestWait) {
		err := do()
		if err == nil || ctx.Err() != nil || refused(err) || time.Now().Add(delay).After(limit) {
			return err
		}
		report(fmt.Sprintf("%s failed, trying again in %s: %v", what, delay, err))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(delay):
		}
	}
}

var (
	// inTheWay matches git's errors if another process writes the same branch at the same time, or
	// was killed while writing. A retry may succeed.
	inTheWay = lazy.Regexp(`(?i)cannot lock ref|unable to create .*\.lock|failed to update ref|another git process`)
	// noMeans matches git's errors that a retry does not resolve.
	noMeans = lazy.Regexp(`(?i)remote rejected|hook declined|protected branch|denied|authentication failed|could not read (username|password)|` +
		`invalid credentials|host key verification failed|returned error: 40[0-9]|not found|no such (file|remote|device)|does not appear to be a git repository|` +
		`unable to find remote helper|transport .* not allowed|not a git repository`)
)

// pushRefused reports whether retrying a push is useless.
func pushRefused(err error) bool {
	failed, ok := errors.AsType[*gitError](err)
	return !ok || !inTheWay().MatchString(failed.output) && noMeans().MatchString(failed.output)
}
