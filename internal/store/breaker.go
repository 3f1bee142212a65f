package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// breaker lets calls fail at once while a Redis server accepts them but does not answer, because it
// is suspended or its disk hangs. A call that times out opens it, unless the server has answered
// another call since that one was sent. While it is open, it pings the server, one ping at a time,
// to find out when the server is back. Each server of a Cluster has its own breaker.
type breaker struct {
	log *slog.Logger
	// ping checks whether the server answers.
	ping     func(context.Context) error
	pingOnce sync.Once

	mu sync.Mutex
	// answered is the time of the server's last answer.
	answered time.Time
	isOpen   bool
	// isLost is true from a call for which no connection could be had, or was lost, to the next answer.
	isLost bool
}

const (
	// callTimeout is the time limit for a call, including all retries.
	callTimeout = 4 * time.Second
	// pingTimeout is the time limit for a ping, pingPause the time between two pings.
	pingTimeout, pingPause = time.Second, 200 * time.Millisecond
)

// errHangs is returned, without sending the call, while a server does not answer.
var errHangs = errors.New("the store does not respond")

// watch adds a breaker to each server of a client.
func watch(rdb redis.UniversalClient, log *slog.Logger) {
	if cluster, ok := rdb.(*redis.ClusterClient); ok {
		cluster.OnNewNode(func(server *redis.Client) { server.AddHook(&breaker{log: log}) })
		return
	}
	rdb.AddHook(&breaker{log: log})
}

// DialHook implements redis.Hook.
func (b *breaker) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (b *breaker) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	b.pingOnce.Do(func() {
		b.ping = func(ctx context.Context) error { return next(ctx, redis.NewStatusCmd(ctx, "ping")) }
	})
	return func(ctx context.Context, cmd redis.Cmder) error {
		return b.call(ctx, callTimeout, func(ctx context.Context) error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook implements redis.Hook.
func (b *breaker) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := b.call(ctx, callTimeout+waitIn(cmds), func(ctx context.Context) error { return next(ctx, cmds) })
		if errors.Is(err, errHangs) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
		}
		return err
	}
}

// waitIn returns how long the server itself may block on a pipeline: see sendAndWait.
func waitIn(cmds []redis.Cmder) time.Duration {
	if args := cmds[len(cmds)-1].Args(); len(args) == 3 && args[0] == "wait" {
		return time.Duration(atoi(args[2].(string))) * time.Millisecond
	}
	return 0
}

// limitedCall is the context of a call, with a deadline. It has no timer: the client sets the
// deadline on its connection.
type limitedCall struct {
	context.Context //nolint:containedctx // it is one
	deadline        time.Time
}

// Deadline implements context.Context.
func (c *limitedCall) Deadline() (time.Time, bool) {
	if outer, ok := c.Context.Deadline(); ok && outer.Before(c.deadline) {
		return outer, true
	}
	return c.deadline, true
}

// insideCall marks the context of a call. Opening a connection for a call makes further calls,
// which the breaker passes through.
type insideCall struct{}

// Value implements context.Context.
func (c *limitedCall) Value(key any) any {
	if key == (insideCall{}) {
		return true
	}
	return c.Context.Value(key)
}

func (b *breaker) call(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	if ctx.Value(insideCall{}) != nil {
		return do(ctx)
	}
	if b.open() {
		return errHangs
	}
	sent := time.Now()
	err := do(&limitedCall{ctx, sent.Add(timeout)}) //nolint:contextcheck // it has the caller's within
	switch {
	case isAnswer(err):
		b.close()
	case ctx.Err() == nil && (isTimeout(err) || errors.Is(err, redis.ErrPoolTimeout)):
		b.trip(ctx, sent)
	case ctx.Err() == nil && !errors.Is(err, redis.ErrClosed):
		b.lose(err)
	}
	return err
}

// isAnswer reports whether the server answered a call, even if only with an error.
func isAnswer(err error) bool {
	_, answered := errors.AsType[redis.Error](err)
	return err == nil || answered
}

func (b *breaker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isOpen
}

func (b *breaker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isOpen || b.isLost {
		b.isOpen, b.isLost = false, false
		b.log.Info("store available", "lastAnswer", b.answered)
	}
	b.answered = time.Now()
}

// lose logs that the server is not reachable, once until it answers again.
func (b *breaker) lose(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isLost {
		b.isLost = true
		b.log.Error("store unavailable", "lastAnswer", b.answered, "error", err)
	}
}

// trip opens the breaker because a call sent at the given time got no answer.
func (b *breaker) trip(ctx context.Context, sent time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isOpen || b.answered.After(sent) {
		return
	}
	b.isOpen = true
	b.log.Error("store unresponsive: calls fail at once", "lastAnswer", b.answered)
	go b.probe(context.WithValue(context.WithoutCancel(ctx), insideCall{}, true))
}

// probe pings until the server answers, or the client is closed.
func (b *breaker) probe(ctx context.Context) {
	for {
		limited, cancel := context.WithTimeout(ctx, pingTimeout)
		err := b.ping(limited)
		cancel()
		if isAnswer(err) {
			b.close()
			return
		}
		if errors.Is(err, redis.ErrClosed) {
			return
		}
		time.Sleep(pingPause)
	}
}
