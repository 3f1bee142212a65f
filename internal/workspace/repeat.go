package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringback/internal/lazy"
)

// How long publishing is repeated by itself before a person is asked, and how long
// it waits in between: first the one, then twice as long each time up to the other.
const (
	repeatFor   = 2 * time.Minute
	firstDelay  = 500 * time.Millisecond
	longestWait = 15 * time.Second
)

// repeat does something until it is done, refused for good, or repeatFor is over.
// report is called with each failure that is followed by another try; it may be nil.
func repeat(ctx context.Context, what string, report func(string), refused func(error) bool, do func() error) error {
	limit := time.Now().Add(repeatFor)
	for delay := firstDelay; ; delay = min(2*delay, longestWait) {
		err := do()
		if err == nil || ctx.Err() != nil || refused(err) || time.Now().Add(delay).After(limit) {
			return err
		}
		if report != nil {
			report(fmt.Sprintf("%s failed, trying again in %s: %v", what, delay, err))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(delay):
		}
	}
}

var (
	// inTheWay is what git says where somebody else writes the same branch at the
	// same time, or was killed while it did: that passes.
	inTheWay = lazy.Regexp(`(?i)cannot lock ref|unable to create .*\.lock|failed to update ref|another git process`)
	// noMeans is what git says where trying again does not help.
	noMeans = lazy.Regexp(`(?i)remote rejected|hook declined|protected branch|denied|authentication failed|could not read (username|password)|` +
		`invalid credentials|host key verification failed|returned error: 40[0-9]|not found|no such (file|remote|device)|does not appear to be a git repository|` +
		`unable to find remote helper|transport .* not allowed|not a git repository`)
)

// pushRefused reports whether the remote, or git itself, will not take a push.
func pushRefused(err error) bool {
	failed, ok := errors.AsType[*gitError](err)
	return !ok || !inTheWay().MatchString(failed.output) && noMeans().MatchString(failed.output)
}
