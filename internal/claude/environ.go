package claude

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/process"
)

// quiet turns off what the CLI does beside its work: telemetry, error reports,
// updates, surveys and the like. A turn starts sooner for it, and nothing of a job
// goes anywhere but to the model's API. A variable that the operator has set, be it
// to nothing, stays as it is.
var quiet = process.Variables{
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER",
	"DISABLE_FEEDBACK_COMMAND", "CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
	"DISABLE_INSTALLATION_CHECKS",
}

// commandTime is how long the CLI lets a command run, beside what a call that
// asks the user may take: a call back with all of curl's attempts.
const commandTime = 2 * time.Minute

// retries says how often the CLI repeats a request that the API refuses, and maxRetries how
// often where the operator does not say: for a minute. Its own default is three minutes, of
// a turn's five; a job that waits for the end of a limit needs no process.
const (
	retries    = "CLAUDE_CODE_MAX_RETRIES"
	maxRetries = 7
)

// Environ returns what of a server's environment the CLI may see. Proxies are
// passed on, but not used for this machine: callbacks would never arrive. hold
// is how long a call that asks the user may take to answer.
func Environ(parent []string, hold time.Duration) []string {
	kept := process.Pick(parent, append(cloudVariables(settingsOf(parent)), process.Basics, process.Person, process.Terminal, process.Certificates, process.Proxies, process.Model, quiet)...)
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
