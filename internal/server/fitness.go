package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/store"
)

// unfit describes why the store would lose jobs, or keep them from running.
type unfit string

// Error implements error.
func (u unfit) Error() string { return string(u) }

// The store is checked again every checkEvery, or every checkUnfitEvery while it has a
// problem. A check takes at most checkTimeout.
const (
	checkEvery      = 10 * time.Second
	checkUnfitEvery = time.Second
	checkTimeout    = 5 * time.Second
)

// fitness is the result of the last check of the store.
type fitness struct {
	mu   sync.Mutex
	last store.Fitness
	// err is why it could not be checked since; nil if it was.
	err error
}

// texts returns the faults and warnings for the readiness check, which do not reveal
// the store's address.
func (f *fitness) texts() (faults, warnings []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, text := range f.last.Faults {
		faults = append(faults, "the store "+text)
	}
	if problem, answered := whyUnusable(f.err); answered {
		faults = append(faults, problem)
	}
	for _, text := range f.last.Warnings {
		warnings = append(warnings, "the store "+text)
	}
	return faults, warnings
}

// clockOffset returns by how much the store's clock was ahead of this machine's at the last check.
func (f *fitness) clockOffset() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last.ClockOffset
}

// whyUnusable returns why a store cannot be used now, and whether the store itself
// reported it.
func whyUnusable(err error) (problem string, answered bool) {
	if said := redis.Error(nil); errors.As(err, &said) {
		return "the store cannot be used: " + said.Error(), true
	}
	return "the store is not reachable", false
}

// set records a result, and returns the previous one.
func (f *fitness) set(found store.Fitness, err error) (before store.Fitness) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, f.err = f.last, err
	if err == nil {
		f.last = found
	}
	return before
}

// well reports whether the store has no fault that prevents its use.
func (f *fitness) well() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, answered := whyUnusable(f.err)
	return !answered && len(f.last.Faults) == 0
}

// judgeStore checks the store before a start, and returns its faults as unfit.
func (n *node) judgeStore(ctx context.Context) error {
	if n.db.subject == "" {
		return nil
	}
	found, err := store.JudgeFitness(ctx, n.db.client, n.opts.Config.RedisWait)
	if err != nil {
		return err
	}
	n.fitness.set(found, nil)
	if len(found.Faults) == 0 {
		return nil
	}
	return unfit(n.db.subject + " " + strings.Join(found.Faults, "\n"+n.db.subject+" "))
}

// watchStore checks the store periodically, because its configuration can change while
// it runs. Each change is logged once.
func (n *node) watchStore(ctx context.Context) {
	if n.db.subject == "" {
		return
	}
	for {
		pause := checkEvery
		if !n.fitness.well() {
			pause = checkUnfitEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
			n.judgeStoreAgain(ctx)
		}
	}
}

func (n *node) judgeStoreAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found, err := store.JudgeFitness(ctx, n.db.client, n.opts.Config.RedisWait)
	before := n.fitness.set(found, err)
	if err != nil {
		return // callers that need the store report it
	}
	for _, text := range found.Faults {
		if !slices.Contains(before.Faults, text) {
			n.log.Error("store unfit: a restart of this server would fail", "fault", n.db.subject+" "+text)
		}
	}
	for _, text := range found.Warnings {
		if !slices.Contains(before.Warnings, text) {
			n.log.Warn("store problem", "warning", n.db.subject+" "+text)
		}
	}
	for _, text := range slices.Concat(before.Faults, before.Warnings) {
		if !slices.Contains(slices.Concat(found.Faults, found.Warnings), text) {
			n.log.Info("store problem resolved", "was", n.db.subject+" "+text)
		}
	}
}
