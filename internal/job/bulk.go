package job

// BulkAction is an action on many jobs at once. Questions cannot be answered in bulk: a person
// allows only what they were shown.
type BulkAction string

// The actions.
const (
	BulkCancel BulkAction = "cancel"
	BulkRetry  BulkAction = "retry"
)

// BulkActions lists every action.
var BulkActions = [...]BulkAction{BulkCancel, BulkRetry}

// MostInBulk is the maximum number of jobs in one request.
const MostInBulk = 200

// AppliesTo reports whether the action applies to jobs in a state.
func (a BulkAction) AppliesTo(s State) bool {
	if a == BulkRetry {
		return s.Retryable()
	}
	return !s.Terminal()
}
