package store

import (
	"context"
	"time"
)

// signInKey returns the key of a sign-in to the console. A sign-in with an API key has no user, so
// the name determines the partition.
func signInKey(name string) string { return partitionOf(name).key("sign-in", name) }

// SaveSignIn stores the sealed credential of a sign-in. It expires if not read for idle.
func (ss SignIns) SaveSignIn(ctx context.Context, name string, sealed []byte, idle time.Duration) error {
	return ss.s.rdb.Set(ctx, signInKey(name), sealed, idle).Err()
}

// SignIn returns the sealed credential of a sign-in, and extends its life to idle from now; nil if
// there is none. It also works if the store refuses writes.
func (ss SignIns) SignIn(ctx context.Context, name string, idle time.Duration) ([]byte, error) {
	pipe := ss.s.rdb.Pipeline()
	sealed := pipe.Get(ctx, signInKey(name))
	pipe.PExpire(ctx, signInKey(name), idle)
	_, _ = pipe.Exec(ctx)
	text, err := sealed.Bytes()
	return text, ignoreNil(err)
}

// RemoveSignIn removes a sign-in, and waits for replicas if configured.
func (ss SignIns) RemoveSignIn(ctx context.Context, name string) error {
	c := &commit{prefix: partitionOf(name).prefix()}
	c.do("DEL", signInKey(name))
	return ss.s.writeAndWait(ctx, c)
}

// RemoveAll removes all sign-ins.
func (ss SignIns) RemoveAll(ctx context.Context) error {
	return ss.s.eachKey(ctx, "rb:{*}:sign-in:*", func(page []string) error {
		pipe := ss.s.rdb.Pipeline()
		for _, key := range page {
			pipe.Del(ctx, key)
		}
		_, err := pipe.Exec(ctx)
		return err
	})
}
