package job

// BulkAction is what can be done to many jobs at once. Questions are not answered so: a person
// allows only what they were shown.
type BulkAction string

// The actions.
const (
	BulkCancel BulkAction = "cancel"
	BulkRetry  BulkAction = "retry"
)

// BulkActions lists every action.
var BulkActions = [...]BulkAction{BulkCancel, BulkRetry}

// MostInBulk is how many jobs one request may name.
const MostInBulk = 200

// AppliesTo reports whether the action can be done to jobs in a state.
func (a BulkAction) AppliesTo(s State) bool {
	if a == BulkRetry {
		return s.Retryable()
	}
	return !s.Terminal()
}
