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

// unfit says why the store would lose jobs, or keep them from running.
type unfit string

// Error implements error.
func (u unfit) Error() string { return string(u) }

// The store is judged again every lookAtStore, or lookAtUnfit while something is wrong
// with it, for at most patienceWithStore.
const (
	lookAtStore       = 10 * time.Second
	lookAtUnfit       = time.Second
	patienceWithStore = 5 * time.Second
)

// fitness is what was found of the store last.
type fitness struct {
	mu   sync.Mutex
	last store.Fitness
	// refused says what the store answered where it could not be judged since.
	refused string
}

// texts are the faults and warnings, for whoever asks whether the server is ready: they
// do not tell where the store is.
func (f *fitness) texts() (faults, warnings []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, text := range f.last.Faults {
		faults = append(faults, "the store "+text)
	}
	if f.refused != "" {
		faults = append(faults, f.refused)
	}
	for _, text := range f.last.Warnings {
		warnings = append(warnings, "the store "+text)
	}
	return faults, warnings
}

// whyUnusable says why a store cannot be used now, and whether it said so itself.
func whyUnusable(err error) (problem string, answered bool) {
	if said := redis.Error(nil); errors.As(err, &said) {
		return "the store cannot be used now: " + said.Error(), true
	}
	return "the store is not reachable", false
}

// set notes what was found, and returns what was found before.
func (f *fitness) set(found store.Fitness, err error) (before store.Fitness) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, f.refused = f.last, ""
	if problem, answered := whyUnusable(err); answered {
		f.refused = problem
	}
	if err == nil {
		f.last = found
	}
	return before
}

// well is whether there is nothing that keeps the store from being used.
func (f *fitness) well() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused == "" && len(f.last.Faults) == 0
}

// judgeStore looks at the store before a start: what is wrong with it is unfit.
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

// watchStore judges the store now and then, for its setup can be changed while it runs.
// What has changed is logged once.
func (n *node) watchStore(ctx context.Context) {
	if n.db.subject == "" {
		return
	}
	for {
		pause := lookAtStore
		if !n.fitness.well() {
			pause = lookAtUnfit
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
	ctx, cancel := context.WithTimeout(ctx, patienceWithStore)
	defer cancel()
	found, err := store.JudgeFitness(ctx, n.db.client, n.opts.Config.RedisWait)
	before := n.fitness.set(found, err)
	if err != nil {
		return // whoever needs the store says so
	}
	for _, text := range found.Faults {
		if !slices.Contains(before.Faults, text) {
			n.log.Error("the store would keep this server from starting", "fault", n.db.subject+" "+text)
		}
	}
	for _, text := range found.Warnings {
		if !slices.Contains(before.Warnings, text) {
			n.log.Warn("the store is not as it should be", "warning", n.db.subject+" "+text)
		}
	}
	for _, text := range slices.Concat(before.Faults, before.Warnings) {
		if !slices.Contains(slices.Concat(found.Faults, found.Warnings), text) {
			n.log.Info("no longer true of the store", "was", n.db.subject+" "+text)
		}
	}
}
