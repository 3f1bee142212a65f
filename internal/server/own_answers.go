package server

import (
	"fmt"
	"strings"

	"ringback/internal/rules/kind"
	"ringback/internal/server/config"
)

// checkOwnAnswers warns if Claude could answer its own questions. Without keys and
// tokens, any process that can reach loopback may answer. Without a sandbox, the
// processes of a job of these kinds can.
func checkOwnAnswers(c config.Config, confined bool, kinds *kind.Registry) []string {
	if c.Secured() || confined {
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
	return []string{"Claude could answer its own questions, and approve its actions, in jobs of these kinds, because they let it run commands or reach the network, no sandbox keeps it from the API, and the API requires no key: " +
		strings.Join(found, ", ") + ". Install bubblewrap (SANDBOX), or set API_KEYS, API_KEYS_FILE or JWT_SECRET."}
}
