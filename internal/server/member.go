package server

import (
	"context"
	"errors"
	"os"
	"time"

	"ringback/internal/store"
)

// name identifies this server among those that use the store, also for people. It is the same after
// a restart.
func (n *node) name() string {
	host, _ := os.Hostname()
	return host + " at " + n.listener.Addr().String()
}

// join registers this server with the others that use the store. An embedded store has no others.
func (n *node) join(ctx context.Context) error {
	if n.opts.Config.RedisURL == "" {
		return nil
	}
	return n.store.Join(ctx, n.name())
}

// stay sends heartbeats until ctx ends: while they continue, no incompatible version starts. It
// returns an error if this version must not continue.
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

// quit lets another version start immediately.
func (n *node) quit() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := n.store.Quit(ctx, n.name()); err != nil {
		n.log.Warn("could not notify other servers of the stop", "error", err)
	}
}
