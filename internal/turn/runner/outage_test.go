package runner_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// outage makes the store unavailable for some of the calls for a job.
type outage struct {
	// after is how many calls succeed first, and calls how many fail then.
	after, calls int
	// answered is set if the first failing call reaches the store, so that only its
	// response is lost.
	answered bool
}

// outages are those of each job, as a hook of a client.
type outages struct {
	mu  sync.Mutex
	all map[job.ID]*outage
}

var errAway = errors.New("connection refused")

func (o *outages) add(id job.ID, one *outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[job.ID]*outage{}
	}
	o.all[id] = one
}

// over reports whether a job's outage is over.
func (o *outages) over(id job.ID) bool { return o.left(id) == 0 }

// left returns how many calls for a job are yet to fail.
func (o *outages) left(id job.ID) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all[id].calls
}

// strike decides the outcome of a call.
func (o *outages) strike(cmds ...redis.Cmder) (fails, reaches bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, one := range o.all {
		if !strings.Contains(fmt.Sprint(cmds), string(id)) || one.calls == 0 {
			continue
		}
		if one.after > 0 {
			one.after--
			continue
		}
		one.calls--
		reaches, one.answered = one.answered, false
		return true, reaches
	}
	return false, true
}

func (o *outages) call(do func() error, cmds ...redis.Cmder) error {
	fails, reaches := o.strike(cmds...)
	var err error
	if reaches {
		err = do()
	}
	if fails {
		err = errAway
		for _, cmd := range cmds {
			cmd.SetErr(err)
		}
	}
	return err
}

func (o *outages) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (o *outages) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return o.call(func() error { return next(ctx, cmd) }, cmd)
	}
}

func (o *outages) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return o.call(func() error { return next(ctx, cmds) }, cmds...)
	}
}
