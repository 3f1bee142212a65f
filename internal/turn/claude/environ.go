package claude

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/sandbox/process"
)

// quiet turns off what the CLI does apart from its work: telemetry, error reports,
// updates, surveys and the like. Turns start sooner, and a job's data goes only to the
// model's API. Without instructions about git, the system prompt does not contain the names
// of a repository's branches and commits, which anyone may have written. A variable that the
// operator has set, even to the empty string, keeps its value.
var quiet = process.Variables{
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER",
	"DISABLE_FEEDBACK_COMMAND", "CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
	"DISABLE_INSTALLATION_CHECKS", "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS",
}

// commandTime limits how long a command may run, not counting the wait for a user's
// answer: one callback with all of curl's attempts.
const commandTime = 2 * time.Minute

// retries is the variable that sets how often the CLI retries a request that the API
// refuses. maxRetries is our default, which amounts to about a minute. The CLI's own
// default amounts to three minutes, of a turn's five; a job that waits for the end of a
// limit needs no process.
const (
	retries    = "CLAUDE_CODE_MAX_RETRIES"
	maxRetries = 7
)

// Environ returns the part of a server's environment that the CLI may see. Proxies are
// passed on, but not used for this machine: callbacks would never arrive. hold limits
// how long a call waits for the user's answer.
func Environ(parent []string, hold time.Duration) []string {
	seen := []process.Variables{
		process.Basics, process.Person, process.Terminal, process.Certificates, process.Proxies, process.Model, quiet,
	}
	for _, c := range chosenClouds(settingsOf(parent)) {
		seen = append(seen, c.logins)
	}
	kept := process.Pick(parent, seen...)
	direct := "localhost,127.0.0.1,::1"
	kept = slices.DeleteFunc(kept, func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.EqualFold(name, "NO_PROXY") {
			return false
		}
		if value != "" {
			direct = value + "," + direct
		}
		return true
	})
	for _, name := range quiet {
		if !slices.ContainsFunc(kept, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
			kept = append(kept, name+"=1")
		}
	}
	if !slices.ContainsFunc(kept, func(entry string) bool { return strings.HasPrefix(entry, retries+"=") }) {
		kept = append(kept, retries+"="+strconv.Itoa(maxRetries))
	}
	limit := strconv.FormatInt((commandTime + hold).Milliseconds(), 10)
	return append(kept, "NO_PROXY="+direct, "no_proxy="+direct, "BASH_DEFAULT_TIMEOUT_MS="+limit)
}

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
