package doctor

import (
	"context"
	"maps"
	"slices"

	"ringback/internal/job"
)

// Format takes a step of the store's way to the newest format, and returns what is left of it. Error: Conflict if
// another step has to come first.
func (d *Doctor) Format(ctx context.Context, step job.StoreStep) (f job.StoreFormat, err error) {
	if step == job.FinishUpgrade {
		if err := d.store.Nodes.Finish(ctx); err != nil {
			return f, err
		}
	}
	found := map[string]int{}
	if err := d.store.Nodes.Migrate(ctx, d.jobs, step == job.MigrateStore, func(form string) { found[form]++ }); err != nil {
		return f, err
	}
	if f, err = d.store.Nodes.Format(ctx); err != nil {
		return f, err
	}
	for _, form := range slices.Sorted(maps.Keys(found)) {
		f.Older = append(f.Older, job.OlderForm{Form: form, Count: found[form]})
	}
	f.Rewritten = step == job.MigrateStore
	return f, nil
}

// migrate rewrites what is in an older form once all servers write the newest.
func (d *Doctor) migrate(ctx context.Context) {
	f, err := d.Format(ctx, job.MigrateStore)
	switch {
	case err != nil && !job.HasKind(err, job.Conflict) && ctx.Err() == nil:
		d.log.Warn("store migration interrupted", "error", err)
	case err == nil && len(f.Older) > 0:
		d.log.Info("store migrated", "format", f.Format, "rewritten", f.Older)
	}
}
