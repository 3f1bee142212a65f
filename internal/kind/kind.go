package kind

import (
	"maps"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/schema"
)

// Kind is one sort of job.
type Kind struct {
	// Name is what jobs ask for, and what its files are called.
	Name string
	// File is the prompt file, as problems name it, and Dir the directory that it
	// lies in, an absolute path: relative paths of programs lead from there. A kind
	// that is part of the program has no Dir.
	File, Dir string
	// Policy is the prompt file's front matter, with its defaults.
	Policy Policy
	// Prompt is the system prompt, with its template variables.
	Prompt string
	// Input and Result are the schemas of what is asked and what is answered.
	Input, Result *schema.Schema
	// Version identifies the contents of the kind's files: the hex SHA-256 of Definition.
	Version string
	// Definition is all that the kind is parsed from, JSON. Restore reads it.
	Definition []byte
}

// Batchable reports whether results may come in batches: they hold a list of
// suggestions.
func (k *Kind) Batchable() bool {
	_, ok := k.Result.Items("suggestions")
	return ok
}

// NeedsCallbacks names what of the kind works by callbacks alone; empty when its
// results may come from the CLI's structured output (USE_CALLBACK_CLAUDE=false).
// Such a turn has no way to call an action, to have a tool call judged, or to
// change files: what it says it did is made up.
func (k *Kind) NeedsCallbacks() string {
	var needs []string
	if len(k.Policy.Actions) > 0 {
		needs = append(needs, "actions")
	}
	if !k.Policy.Tools.Empty() {
		needs = append(needs, "tools")
	}
	if k.Policy.Workspace != nil {
		needs = append(needs, "workspace")
	}
	return strings.Join(needs, ", ")
}

// Reaches says by what Claude, or what it wrote, runs commands or reaches the network in
// jobs of the kind without that a person is asked; empty where it cannot.
func (k *Kind) Reaches() string {
	found := k.Policy.ToolRules().Reaching()
	if len(k.Policy.Verifiers) > 0 {
		found = append(found, "verifiers")
	}
	return strings.Join(found, ", ")
}

// CheckStructured returns why no job of the kind can take its result from the
// CLI's structured output; nil when it can.
func (k *Kind) CheckStructured() error {
	needs := k.NeedsCallbacks()
	if needs == "" {
		return nil
	}
	return job.Errorf(job.Conflict, "Kind %q works by callbacks only (%s), and this server takes results without them", k.Name, needs).
		WithHint("Set USE_CALLBACK_CLAUDE=true and start the server again.")
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
