package kind

import (
	"maps"
	"slices"
)

// Kind is one sort of job.
type Kind struct {
	// Name is what jobs ask for, and what its files are called.
	Name string
	// Policy is the prompt file's front matter, with its defaults.
	Policy Policy
	// Prompt is the system prompt, with its template variables.
	Prompt string
	// Input and Result are the schemas of what is asked and what is answered.
	Input, Result *Schema
}

// Batchable reports whether results may come in batches: they hold a list of
// suggestions.
func (k *Kind) Batchable() bool {
	_, ok := k.Result.Items("suggestions")
	return ok
}

// Registry holds all kinds. It does not change, so it is safe for concurrent use.
type Registry struct{ kinds map[string]*Kind }

// Get returns a kind by name.
func (r *Registry) Get(name string) (*Kind, bool) {
	k, ok := r.kinds[name]
	return k, ok
}

// Names lists the kinds in alphabetical order.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.kinds)) }

// All lists the kinds in alphabetical order.
func (r *Registry) All() []*Kind {
	all := make([]*Kind, 0, len(r.kinds))
	for _, name := range r.Names() {
		all = append(all, r.kinds[name])
	}
	return all
}
