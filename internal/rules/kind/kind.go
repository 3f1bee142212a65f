package kind

import (
	"maps"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/schema"
)

// Kind is one sort of job.
type Kind struct {
	Name string // The name in requests for jobs and of the kind's files.
	// File is the prompt file's name in problems. Dir is the absolute path of its
	// directory, to which paths of programs are relative. A built-in kind has no Dir.
	File, Dir     string
	Policy        Policy // The prompt file's front matter, with its defaults.
	Prompt        string // The system prompt, with its template variables.
	Input, Result *schema.Schema
	// Version identifies the contents of the kind's files: the hex SHA-256 of Definition.
	Version    string
	Definition []byte // The JSON source from which the kind is parsed. Restore reads it.
}

// Batchable reports whether results may come in batches, which requires a list of
// suggestions.
func (k *Kind) Batchable() bool {
	_, ok := k.Result.Items("suggestions")
	return ok
}

// NeedsCallbacks names the features of the kind that require callbacks. It is empty if
// its results may come from the CLI's structured output (USE_CALLBACK_CLAUDE=false).
// Such a turn cannot call an action, have a tool call judged, or change files: if it
// reports that it did, it made that up.
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

// Reaches names the means by which Claude, or code that it wrote, can run commands or
// access the network in jobs of the kind without asking a person; empty if there are
// none.
func (k *Kind) Reaches() string {
	found := k.Policy.ToolRules().Reaching()
	if len(k.Policy.Verifiers) > 0 {
		found = append(found, "verifiers")
	}
	return strings.Join(found, ", ")
}

// CheckStructured returns an error if jobs of the kind cannot take their result from
// the CLI's structured output.
func (k *Kind) CheckStructured() error {
	needs := k.NeedsCallbacks()
	if needs == "" {
		return nil
	}
	return job.Errorf(job.Conflict, "Kind %q works by callbacks only (%s), and this server takes results without them", k.Name, needs).
		WithHint("Set USE_CALLBACK_CLAUDE=true and start the server again.")
}

// Registry holds all kinds. It is immutable and therefore safe for concurrent use.
type Registry struct{ kinds map[string]*Kind }

// Get returns a kind by name.
func (r *Registry) Get(name string) (*Kind, bool) {
	k, ok := r.kinds[name]
	return k, ok
}

// Names returns the names of the kinds in alphabetical order.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.kinds)) }

// All returns the kinds in alphabetical order.
func (r *Registry) All() []*Kind {
	all := make([]*Kind, 0, len(r.kinds))
	for _, name := range r.Names() {
		all = append(all, r.kinds[name])
	}
	return all
}
