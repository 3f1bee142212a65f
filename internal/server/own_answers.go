package server

import (
	"fmt"
	"strings"

	"ringback/internal/config"
	"ringback/internal/kind"
)

// checkOwnAnswers warns where Claude could answer its own questions: without keys and
// tokens whoever reaches loopback may answer, and what runs for a job of these kinds does.
func checkOwnAnswers(c config.Config, kinds *kind.Registry) []string {
	if c.Secured() {
		return nil
	}
	var found []string
	for _, k := range kinds.All() {
		if by := k.Reaches(); by != "" {
			found = append(found, fmt.Sprintf("%s (%s)", k.Name, by))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{"Claude could answer its own questions, and approve its own actions, in jobs of these kinds, for they let it run commands or reach the network, and the API asks nobody for a key: " +
		strings.Join(found, ", ") + ". Set API_KEYS, API_KEYS_FILE or JWT_SECRET."}
}
