package claude

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// passed are the variables that the CLI gets from our environment; ours,
// secrets among them, stay here.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM", "IS_SANDBOX",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
	"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
	"CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT",
	"API_TIMEOUT_MS", "MAX_THINKING_TOKENS",
}

// passedPrefixes are families of such variables.
var passedPrefixes = []string{"LC_", "ANTHROPIC_", "CLAUDE_CODE_", "CLAUDE_CONFIG_", "AWS_", "VERTEX_", "RINGBACK_SIMULATE"}

// quiet turns off what the CLI does beside its work: telemetry, error reports,
// updates, surveys and the like. A turn starts sooner for it, and nothing of a job
// goes anywhere but to the model's API. A variable that the operator has set, be it
// to nothing, stays as it is.
var quiet = []string{
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER",
	"DISABLE_FEEDBACK_COMMAND", "CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
	"DISABLE_INSTALLATION_CHECKS",
}

// commandTime is how long the CLI lets a command run, beside what a call that
// asks the user may take: a call back with all of curl's attempts.
const commandTime = 2 * time.Minute

// Environ returns what of a server's environment the CLI may see. Proxies are
// passed on, but not used for this machine: callbacks would never arrive. hold
// is how long a call that asks the user may take to answer.
func Environ(parent []string, hold time.Duration) []string {
	var kept []string
	direct := "localhost,127.0.0.1,::1"
	for _, entry := range parent {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case strings.EqualFold(name, "NO_PROXY"):
			if value != "" {
				direct = value + "," + direct
			}
		case isPassed(name):
			kept = append(kept, entry)
		}
	}
	for _, name := range quiet {
		if !slices.ContainsFunc(kept, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
			kept = append(kept, name+"=1")
		}
	}
	limit := strconv.FormatInt((commandTime + hold).Milliseconds(), 10)
	return append(kept, "NO_PROXY="+direct, "no_proxy="+direct, "BASH_DEFAULT_TIMEOUT_MS="+limit)
}

func isPassed(name string) bool {
	return slices.Contains(passed, name) || slices.Contains(quiet, name) ||
		slices.ContainsFunc(passedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
