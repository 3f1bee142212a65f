package server

import (
	"context"
	"errors"
	"os"
	"time"

	"ringback/internal/store"
)

// name tells this server from the others that use the store, for people, too. After a restart it is
// the same.
func (n *node) name() string {
	host, _ := os.Hostname()
	return host + " at " + n.listener.Addr().String()
}

// join makes this server known to the others that use the store. Nobody else uses an embedded one.
func (n *node) join(ctx context.Context) error {
	if n.opts.Config.RedisURL == "" {
		return nil
	}
	return n.store.Join(ctx, n.name())
}

// stay gives signs of life, until ctx ends: while there are any, no version starts that does not go
// together with this one. It returns why this one may not go on.
func (n *node) stay(ctx context.Context) error {
	if n.opts.Config.RedisURL == "" {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(n.opts.Config.NodeTimeout / 6)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			n.quit()
			return nil
		case <-ticker.C:
		}
		if err := n.store.Stay(ctx, n.name()); errors.Is(err, store.ErrFormat) {
			return err
		}
	}
}

// quit lets another version start at once.
func (n *node) quit() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := n.store.Quit(ctx, n.name()); err != nil {
		n.log.Warn("the other servers could not be told of the stop", "error", err)
	}
}
