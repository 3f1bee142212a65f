package server

import (
	"slices"
	"sync"

	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/rules/schema"
	"ringback/internal/web/api"
	"ringback/internal/web/callback"
	"ringback/internal/web/contract"
	"ringback/internal/web/hub"
)

// contractOf describes a server that has these kinds.
func contractOf(kinds []contract.Kind) contract.Contract {
	return contract.Contract{
		Routes: slices.Concat(api.Routes(), callback.Routes()), Events: lifecycle.Events[:], Frames: api.Frames(),
		Closes: hub.Closes(), Kinds: kinds,
	}
}

// documents holds the contracts of the kinds that they were made for. Most servers are never
// asked for them.
type documents struct {
	mu        sync.Mutex
	kinds     *kind.Registry
	contracts api.Contracts
}

// contracts returns the contract that anyone may read, and the one for this server's
// callers.
func (n *node) contracts() (api.Contracts, error) {
	d := &n.documents
	d.mu.Lock()
	defer d.mu.Unlock()
	if kinds := n.jobs.Kinds(); d.kinds != kinds {
		made, err := contractsOf(kinds)
		if err != nil {
			return api.Contracts{}, err
		}
		d.kinds, d.contracts = kinds, made
	}
	return d.contracts, nil
}

func contractsOf(kinds *kind.Registry) (api.Contracts, error) {
	builtin, problems := kind.Load(kind.Builtin())
	if err := schema.Join(problems); err != nil {
		return api.Contracts{}, err
	}
	public, err := documentsOf(builtin)
	if err != nil {
		return api.Contracts{}, err
	}
	own, err := documentsOf(kinds)
	return api.Contracts{Public: public, Own: own}, err
}

func documentsOf(kinds *kind.Registry) (d api.Documents, err error) {
	c := contractOf(describedKinds(kinds))
	if d.OpenAPI, err = c.OpenAPI(); err != nil {
		return d, err
	}
	d.AsyncAPI, err = c.AsyncAPI()
	return d, err
}

// describedKinds returns the kinds as callers see them.
func describedKinds(kinds *kind.Registry) []contract.Kind {
	var all []contract.Kind
	for _, k := range kinds.All() {
		if k.Name == lifecycle.InterpretingKind {
			continue
		}
		described := contract.Kind{
			Name: k.Name, Description: k.Policy.Description, Events: k.Policy.Events, Input: k.Input.JSON(), Result: k.Result.JSON(),
		}
		for _, a := range k.Policy.Actions {
			described.Actions = append(described.Actions, contract.Action{Name: a.Name, Input: a.Schema().JSON()})
		}
		all = append(all, described)
	}
	return all
}
