package job

import "slices"

// BulkAction is an action on many jobs at once. No decision is among them: a person allows only
// what they were shown.
type BulkAction string

// The actions.
const (
	BulkCancel BulkAction = "cancel"
	BulkRetry  BulkAction = "retry"
	// BulkMove moves jobs to the current version of their kind.
	BulkMove BulkAction = "move"
	// BulkAnswer gives the same answer to the question that each job asks.
	BulkAnswer BulkAction = "answer"
)

// BulkActions lists every action.
var BulkActions = [...]BulkAction{BulkCancel, BulkRetry, BulkMove, BulkAnswer}

// MostInBulk is the maximum number of jobs in one request.
const MostInBulk = 200

// Check returns an Invalid error unless the action is one of BulkActions.
func (a BulkAction) Check() error {
	if slices.Contains(BulkActions[:], a) {
		return nil
	}
	return UnknownName("/action", string(a), BulkActions[:])
}

// Done describes, after a number of jobs, what the action has done to them.
func (a BulkAction) Done() string {
	switch a {
	case BulkRetry:
		return "started again"
	case BulkMove:
		return "moved"
	case BulkAnswer:
		return "answered"
	default:
		return "cancelled"
	}
}

// AppliesTo reports whether the action applies to jobs in a state.
func (a BulkAction) AppliesTo(s State) bool {
	switch a {
	case BulkRetry:
		return s.Retryable()
	case BulkAnswer:
		return s == AwaitingInput
	default:
		return !s.Terminal()
	}
}
