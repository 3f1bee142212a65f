package storetest

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// Hook is called for each call that a client makes to Redis, which do makes. An error that it returns is that of the
// call.
type Hook func(do func() error, cmds ...redis.Cmder) error

// DialHook implements [redis.Hook].
func (Hook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements [redis.Hook].
func (h Hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return h.call(func() error { return next(ctx, cmd) }, cmd)
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (h Hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return h.call(func() error { return next(ctx, cmds) }, cmds...)
	}
}

func (h Hook) call(do func() error, cmds ...redis.Cmder) error {
	var answer error
	err := h(func() error {
		answer = do()
		return answer
	}, cmds...)
	if err != nil && !errors.Is(err, answer) {
		for _, cmd := range cmds {
			cmd.SetErr(err)
		}
	}
	return err
}
