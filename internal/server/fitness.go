package server

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	store.Fitness
	// err is why it could not be checked since; nil if it was.
	err error
}

// storeFitness returns the result of the last check; the zero value before the first.
func (n *node) storeFitness() fitness {
	if last := n.fitness.Load(); last != nil {
		return *last
	}
	return fitness{}
}

// texts returns the faults and warnings for the readiness check, which do not reveal
// the store's address.
func (f fitness) texts() (faults, warnings []string) {
	for _, text := range f.Faults {
		faults = append(faults, "the store "+text)
	}
	if problem, answered := whyUnusable(f.err); answered {
		faults = append(faults, problem)
	}
	for _, text := range f.Warnings {
		warnings = append(warnings, "the store "+text)
	}
	return faults, warnings
}

// whyUnusable returns why a store cannot be used now, and whether the store itself
// reported it.
func whyUnusable(err error) (problem string, answered bool) {
	if said := redis.Error(nil); errors.As(err, &said) {
		return "the store cannot be used: " + said.Error(), true
	}
	return "the store is not reachable", false
}

// well reports whether the store has no fault that prevents its use.
func (f fitness) well() bool {
	_, answered := whyUnusable(f.err)
	return !answered && len(f.Faults) == 0
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
	n.fitness.Store(&fitness{found, nil})
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
		if !n.storeFitness().well() {
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
	before := n.storeFitness()
	if err != nil { // callers that need the store report it
		n.fitness.Store(&fitness{before.Fitness, err})
		return
	}
	n.fitness.Store(&fitness{found, nil})
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
