package kind

import (
	"maps"
	"slices"
)

// Kind is one sort of job.
type Kind struct {
	Name   string
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

// Registry holds all kinds. It does not change.
type Registry struct{ kinds map[string]*Kind }

// Get returns a kind by name.
func (r *Registry) Get(name string) (*Kind, bool) {
	k, ok := r.kinds[name]
	return k, ok
}

// Names lists the kinds in alphabetical order.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.kinds)) }
