package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/schema"
	"ringback/internal/server/config"
)

// KindSources returns the built-in kinds and those of the user.
func KindSources(c config.Config) []kind.Source {
	user := kind.Source{Dir: c.PromptsDir, PromptsName: c.PromptsDir, SchemasName: c.SchemasDir}
	if c.PromptsDir != "" {
		user.Prompts = os.DirFS(c.PromptsDir)
	}
	if c.SchemasDir != "" {
		user.Schemas = os.DirFS(c.SchemasDir)
	}
	return []kind.Source{kind.Builtin(), user}
}

// Who asks for a reload of the kinds, as the log names them.
const (
	byAPI    = "api"
	bySignal = "signal"
	byWatch  = "watch"
)

// reloads serializes reloads of the kinds: an older set must not replace a newer one.
type reloads struct {
	mu sync.Mutex
	// refused is the error of the last reload; empty if it succeeded.
	refused string
}

// reloadKinds loads the files of the kinds again, and makes them the current kinds of this node
// if none of them has a problem. Otherwise nothing changes.
//
// Error: Conflict, with the problems of all files.
func (n *node) reloadKinds(by string) (job.KindsReload, error) {
	n.reloads.mu.Lock()
	defer n.reloads.mu.Unlock()
	kinds, problems := kind.Load(KindSources(n.opts.Config)...)
	if err := schema.Join(problems); err != nil {
		if by != byWatch || err.Error() != n.reloads.refused { // an editor writes a file more than once
			n.log.Warn("kinds not reloaded", "by", by, "problems", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		n.reloads.refused = err.Error()
		return job.KindsReload{}, notReloaded(problems)
	}
	n.reloads.refused = ""
	reload := kind.Compare(n.jobs.Kinds(), kinds)
	n.jobs.SetKinds(kinds)
	if differing := slices.Concat(reload.Added, reload.Removed, reload.Changed); by != byWatch || len(differing) > 0 {
		n.log.Info("kinds reloaded", "by", by, "added", reload.Added, "removed", reload.Removed, "changed", reload.Changed)
	}
	for _, name := range slices.Concat(reload.Added, reload.Changed) {
		k, _ := kinds.Get(name)
		for _, text := range kindProblems(n.opts.Config, k) {
			n.log.Warn("kind cannot run completely", "kind", name, "problem", text)
			reload.Warnings = append(reload.Warnings, text)
		}
	}
	return reload, nil
}

func notReloaded(problems []kind.Problem) error {
	e := job.Errorf(job.Conflict, "The kinds were not reloaded because their files have problems").
		WithHint("Correct the files and reload again. Until then, the server keeps the kinds that it had loaded.")
	for _, p := range problems {
		e.Details = append(e.Details, job.Detail{Message: p.Error()})
	}
	return e
}

// reloadOnSignal reloads the kinds as often as the command line asks for it, until ctx ends.
func (n *node) reloadOnSignal(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.opts.Reload:
			_, _ = n.reloadKinds(bySignal) // it is in the log
		}
	}
}

const (
	// settleTime is the time without a change before the files are read: an editor, or a
	// checkout, writes several times.
	settleTime = 200 * time.Millisecond
	// missingInterval is the time between two looks for a missing directory.
	missingInterval = time.Second
)

// kindDirs are the directories that hold the files of the user's kinds.
func kindDirs(c config.Config) []string {
	dirs := []string{c.PromptsDir, c.SchemasDir}
	slices.Sort(dirs)
	return slices.DeleteFunc(slices.Compact(dirs), func(dir string) bool { return dir == "" })
}

// startKinds loads the kinds and, with Watch, watches their files.
func (n *node) startKinds(context.Context) (stop func(), err error) {
	kinds, problems := kind.Load(KindSources(n.opts.Config)...)
	if err := schema.Join(problems); err != nil {
		return nil, fmt.Errorf("the kinds have problems (ringback check shows more):\n%w", err)
	}
	n.kinds = kinds
	if !n.opts.Watch {
		return nil, nil
	}
	if len(kindDirs(n.opts.Config)) == 0 {
		return nil, errors.New("--watch has nothing to watch: set PROMPTS_DIR and SCHEMAS_DIR to the directories of your kinds")
	}
	if n.watcher, err = fsnotify.NewWatcher(); err != nil {
		return nil, fmt.Errorf("--watch: %w", err)
	}
	return func() { _ = n.watcher.Close() }, nil
}

// watchKinds reloads the kinds whenever a file in their directories changes, until ctx ends.
func (n *node) watchKinds(ctx context.Context) {
	if n.watcher == nil {
		return
	}
	next, missing := time.NewTimer(0), false // what has changed before it watches counts, too
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.watcher.Events:
			next.Reset(settleTime)
		case err := <-n.watcher.Errors: // events may have been lost
			n.log.Warn("watching the kinds failed", "error", err)
			next.Reset(settleTime)
		case <-next.C:
			was := missing
			missing = false
			for _, dir := range kindDirs(n.opts.Config) {
				missing = n.watcher.Add(dir) != nil || missing // it may be another directory of that name
			}
			if missing {
				next.Reset(missingInterval)
			}
			if !missing || !was {
				_, _ = n.reloadKinds(byWatch) // it is in the log
			}
		}
	}
}
