package kind

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"ringback/internal/job"
	"ringback/internal/outbound"
)

// Workspace determines the repositories that a kind works on: these, and those in the
// field repos of the job's input.
type Workspace struct {
	Repositories []job.Repository `yaml:"repositories"`
	// Credentials are the hosts, "github.com", or parts of them, "github.com/org", for
	// which a job may use the server's own logins although its input named the repository.
	// The kind's own Repositories may always use them.
	Credentials []string `yaml:"credentials"`
}

// Fault returns what is wrong with Credentials; empty if nothing is.
func (w Workspace) Fault() string {
	for _, host := range w.Credentials {
		if fault := outbound.HostFault(host); fault != "" {
			return fmt.Sprintf("credentials: found %q; %s", host, fault)
		}
	}
	return ""
}

// Verifiers are checks of a change.
type Verifiers []job.Verifier

// Fault returns what is wrong with them; empty if nothing is.
func (v Verifiers) Fault() string {
	for _, verifier := range v {
		if verifier.Name == "" || verifier.Command == "" {
			return "each verifier needs a name and a command"
		}
		if fault := verifier.Limits.Fault(); fault != "" {
			return fmt.Sprintf("%s: limits: %s", verifier.Name, fault)
		}
	}
	return ""
}

// Change returns how a job of this kind, with this input, works on repositories; nil if
// it does not. The input overrides the kind's own policy, as far as the input schema
// allows it.
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
		VerifiersAtOnce: p.VerifiersAtOnce, Network: p.Network, Review: p.Review, MaxIterations: p.MaxSteeringIterations,
		Finalize: p.Finalize, PullRequest: p.PullRequest, Limits: p.Limits,
	}
	if asked.Review != nil {
		c.Review = *asked.Review
	}
	if asked.Iterations != nil {
		c.MaxIterations = *asked.Iterations
	}
	c.MaxIterations = cmp.Or(c.MaxIterations, job.DefaultIterations)
	return c, nil
}

// decodeWhole reads an input into a struct with integer fields. A schema accepts 5.0 and
// 5e0 as integers, but encoding/json does not.
func decodeWhole(input json.RawMessage, into any) error {
	var v any
	if err := job.UnmarshalExact(input, &v); err != nil {
		return err
	}
	integers := job.Converted(v, func(_ string, v any) any {
		if number, ok := v.(json.Number); ok {
			if n, whole := job.Whole(number); whole {
				return n
			}
		}
		return v
	})
	return job.UnmarshalExact(job.MustJSON(integers), into)
}
