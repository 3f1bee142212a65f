package claude

import "encoding/json"

// nowhere is an address of this machine at which nothing listens.
const nowhere = "http://127.0.0.1:1"

// offline are variables with which the CLI starts as in a turn and reaches no network: neither the
// model's API nor, with its user's login, the address that renews that login.
var offline = map[string]string{
	"ANTHROPIC_BASE_URL": nowhere, "ANTHROPIC_BEDROCK_BASE_URL": nowhere, "ANTHROPIC_VERTEX_BASE_URL": nowhere,
	"HTTP_PROXY": nowhere, "HTTPS_PROXY": nowhere, "ALL_PROXY": nowhere,
	"http_proxy": nowhere, "https_proxy": nowhere, "all_proxy": nowhere,
	"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
	assumeFirstParty: "", retries: "0",
}

// Offline returns the environment of a CLI that reaches no network, given that of a turn.
func Offline(environ []string) []string {
	for name, value := range offline {
		environ = append(environ, name+"="+value) // the last one counts
	}
	return environ
}

// OfflineSettings returns the CLI settings that Offline needs: otherwise variables in the settings of the
// CLI's user would take precedence.
func OfflineSettings() ([]byte, error) { return json.Marshal(map[string]any{"env": offline}) }
