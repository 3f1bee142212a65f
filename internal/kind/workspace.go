package kind

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ringback/internal/job"
	"ringback/internal/outbound"
)

// Workspace says which repositories a kind works on: these, and those that the
// job's input names in its field repos.
type Workspace struct {
	Repositories []job.Repository `yaml:"repositories"`
	// Credentials are the hosts, "github.com", or parts of them, "github.com/org", for
	// whose repositories a job may use the server's own logins though its input named
	// them. Those of Repositories always may.
	Credentials []string `yaml:"credentials"`
}

// fault says what is wrong with the hosts whose logins may be used; empty when nothing is.
func (w *Workspace) fault() string {
	for _, host := range w.Credentials {
		if fault := outbound.HostFault(host); fault != "" {
			return fmt.Sprintf("credentials: found %q; %s", host, fault)
		}
	}
	return ""
}

// Verifiers are checks of a change.
type Verifiers []job.Verifier

// UnmarshalYAML reads a list of "name: command", or of names, commands and limits by
// these names.
func (v *Verifiers) UnmarshalYAML(decode func(any) error) error {
	var entries []verifierEntry
	if err := decode(&entries); err != nil {
		return err
	}
	for _, entry := range entries {
		*v = append(*v, entry...)
	}
	if slices.ContainsFunc(*v, func(v job.Verifier) bool { return v.Name == "" || v.Command == "" }) {
		return errors.New("each verifier needs a name and a command")
	}
	return nil
}

// verifierEntry is one item of the list: a single verifier, or some by their names.
type verifierEntry []job.Verifier

// UnmarshalYAML takes the entry for a single one where it has a command.
func (e *verifierEntry) UnmarshalYAML(decode func(any) error) error {
	var keys map[string]any
	if err := decode(&keys); err != nil {
		return err
	}
	if _, single := keys["command"].(string); single && keys["command"] != "" {
		*e = make(verifierEntry, 1)
		return decode(&(*e)[0])
	}
	var named map[string]string
	if err := decode(&named); err != nil {
		return err
	}
	for name, command := range named {
		*e = append(*e, job.Verifier{Name: name, Command: command})
	}
	return nil
}

// fault says what is wrong with their limits; empty when nothing is.
func (v Verifiers) fault() string {
	for _, verifier := range v {
		if fault := verifier.Limits.Fault(); fault != "" {
			return fmt.Sprintf("%s: limits: %s", verifier.Name, fault)
		}
	}
	return ""
}

// Change is how a job of this kind, with this input, works on repositories; nil
// when it does not. What the input says goes before the kind's own policy, as far
// as the input schema lets it.
func (k *Kind) Change(input json.RawMessage) (*job.Change, error) {
	p := k.Policy
	if p.Workspace == nil {
		return nil, nil
	}
	var asked struct {
		Repos      []job.Repository `json:"repos"`
		Verifiers  []job.Verifier   `json:"verifiers"`
		Review     *bool            `json:"require_approval"`
		Iterations *int             `json:"max_steering_iterations"`
	}
	if err := decodeWhole(input, &asked); err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	for i, r := range asked.Repos {
		asked.Repos[i].FromRequest, asked.Repos[i].Logins = true, outbound.Covers(p.Workspace.Credentials, r.URL)
	}
	for i := range asked.Verifiers {
		asked.Verifiers[i].Limits = p.Limits
	}
	c := &job.Change{
		Repositories: slices.Concat(p.Workspace.Repositories, asked.Repos), Verifiers: slices.Concat(p.Verifiers, asked.Verifiers),
		Network: p.Network, Review: p.Review, MaxIterations: p.MaxSteeringIterations, Finalize: p.Finalize, PullRequest: p.PullRequest,
		Limits: p.Limits,
	}
	if asked.Review != nil {
		c.Review = *asked.Review
	}
	if asked.Iterations != nil {
		c.MaxIterations = *asked.Iterations
	}
	if c.MaxIterations == 0 {
		c.MaxIterations = job.DefaultIterations
	}
	return c, nil
}

// decodeWhole reads an input into a struct whose numbers are whole. A schema takes 5.0 and
// 5e0 for the integer that they are, encoding/json does not.
func decodeWhole(input json.RawMessage, into any) error {
	var v any
	if err := job.UnmarshalExact(input, &v); err != nil {
		return err
	}
	text, err := json.Marshal(plainIntegers(v))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func plainIntegers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, ok := job.Whole(v); ok {
			return n
		}
	case map[string]any:
		for name, value := range v {
			v[name] = plainIntegers(value)
		}
	case []any:
		for i, value := range v {
			v[i] = plainIntegers(value)
		}
	}
	return v
}
