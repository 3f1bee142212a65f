package kind

// Changes are the names of the kinds that differ between two registries, each list in
// alphabetical order.
type Changes struct{ Added, Removed, Changed []string }

// Compare returns how the kinds after a change differ from those before it. A kind has changed
// if its version has.
func Compare(before, after *Registry) Changes {
	var c Changes
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

// None reports whether nothing has changed.
func (c Changes) None() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }
