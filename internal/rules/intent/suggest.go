package intent

import (
	"fmt"
	"slices"
)

const mostSuggestions = 10

// ChangeIt is the reply that passes on the offered change request.
const ChangeIt = "Change it"

// Suggest returns replies to offer for a question. Read understands each of them as intended.
func Suggest(q Context) []string {
	if q.Type.Binding() {
		texts := []string{slices.Concat(q.YesPhrases, []string{"Approve"})[0], slices.Concat(q.NoPhrases, []string{"Deny"})[0]}
		if q.Offered != "" {
			texts = append(texts, ChangeIt)
		}
		return texts
	}
	var options []any
	if len(q.Fields) == 1 {
		options = q.Fields[0].Enum
	}
	if len(options) == 0 || len(options) > mostSuggestions {
		return []string{"Cancel"}
	}
	texts := make([]string, 0, len(options)+1)
	for _, option := range options {
		texts = append(texts, fmt.Sprint(option))
	}
	if _, taken := exact(options, "Cancel"); !taken {
		texts = append(texts, "Cancel")
	}
	return texts
}
