package store

import (
	"context"
	"time"
)

// signInKey returns the key of a sign-in to the console. A sign-in with an API key has no user, so
// the name determines the partition.
func signInKey(name string) (Partition, string) {
	p := partitionOf(name)
	return p, p.key("sign-in", name)
}

// SaveSignIn stores the sealed credential of a sign-in. It expires if not read for idle.
func (s *Store) SaveSignIn(ctx context.Context, name string, sealed []byte, idle time.Duration) error {
	_, key := signInKey(name)
	return s.rdb.Set(ctx, key, sealed, idle).Err()
}

// SignIn returns the sealed credential of a sign-in, and extends its life to idle from now; nil if
// there is none. It also works if the store refuses writes.
func (s *Store) SignIn(ctx context.Context, name string, idle time.Duration) ([]byte, error) {
	_, key := signInKey(name)
	pipe := s.rdb.Pipeline()
	sealed := pipe.Get(ctx, key)
	pipe.PExpire(ctx, key, idle)
	_, _ = pipe.Exec(ctx)
	text, err := sealed.Bytes()
	return text, ignoreNil(err)
}

// RemoveSignIn removes a sign-in, and waits for replicas if configured.
func (s *Store) RemoveSignIn(ctx context.Context, name string) error {
	p, key := signInKey(name)
	c := &commit{prefix: p.prefix()}
	c.do("DEL", key)
	return s.writeAndWait(ctx, c)
}
