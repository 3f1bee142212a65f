package kind

import "ringback/internal/job"

// Compare returns the names of the kinds that differ after a change, each list in alphabetical
// order. A kind has changed if its version has.
func Compare(before, after *Registry) job.KindsReload {
	c := job.KindsReload{Added: []string{}, Removed: []string{}, Changed: []string{}} // in JSON, none is [], not null
	for _, k := range before.All() {
		now, ok := after.Get(k.Name)
		switch {
		case !ok:
			c.Removed = append(c.Removed, k.Name)
		case now.Version != k.Version:
			c.Changed = append(c.Changed, k.Name)
		}
	}
	for _, name := range after.Names() {
		if _, ok := before.Get(name); !ok {
			c.Added = append(c.Added, name)
		}
	}
	return c
}
