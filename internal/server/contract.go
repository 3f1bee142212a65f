package server

import (
	"sync"

	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/rules/schema"
	"ringback/internal/web/api"
	"ringback/internal/web/contract"
)

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
	described := describedKinds(kinds)
	if d.OpenAPI, err = contract.OpenAPI(described); err != nil {
		return d, err
	}
	d.AsyncAPI, err = contract.AsyncAPI(described)
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
