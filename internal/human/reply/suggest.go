package reply

import (
	"fmt"
	"strings"

	"ringback/internal/job"
)

// mostSuggestions bounds how many replies are offered as buttons.
const mostSuggestions = 10

// Suggest returns texts to offer as replies to a question. Each of them is read
// as what it says.
func Suggest(q Question) []string {
	if q.Type.Binding() {
		return []string{first(q.YesPhrases, "Approve"), first(q.NoPhrases, "Deny")}
	}
	options := q.ValidValues
	if len(options) == 0 && len(q.Fields) == 1 {
		options = q.Fields[0].Enum
	}
	if len(options) == 0 || len(options) > mostSuggestions {
		return []string{"Cancel"}
	}
	texts := make([]string, 0, len(options)+1)
	for _, option := range options {
		texts = append(texts, fmt.Sprint(option))
	}
	if _, taken := exact(options, parse("Cancel")); !taken {
		texts = append(texts, "Cancel")
	}
	return texts
}

func first(texts []string, otherwise string) string {
	if len(texts) > 0 {
		return texts[0]
	}
	return otherwise
}

const (
	unclearDecision = "I cannot tell whether that is a yes or a no. "
	plainAnswer     = " Please answer yes or no."
	reviewAnswer    = ` Please answer "approve" or "reject", or "steer: …" for another round.`
	unclearValue    = "I did not understand that. "
)

// again is the question to ask back.
func again(q Question) string {
	asked := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(q.Message, unclearDecision), unclearValue))
	if !q.Type.Binding() {
		return unclearValue + asked
	}
	ending := plainAnswer
	if q.Type == job.Review {
		ending = reviewAnswer
	}
	return unclearDecision + strings.TrimSuffix(asked, ending) + ending
}
