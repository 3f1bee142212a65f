package claude

import (
	"slices"
	"strconv"
	"strings"

	"ringback/internal/kind"
)

// Turn is what a command line depends on.
type Turn struct {
	Kind *kind.Kind
	// Conversation is a UUID; Resume goes on with it instead of beginning it.
	Conversation string
	Resume       bool
	// CallbackBaseURL is where curl may post.
	CallbackBaseURL string
	// Structured takes the result from the CLI's structured output, without curl.
	Structured bool
	// Extra is added at the end.
	Extra []string
}

// Args returns the CLI's arguments. The prompt goes to standard input; nothing
// secret is among the arguments.
func Args(t Turn) []string {
	p := t.Kind.Policy
	args := []string{"-p", "--output-format", "stream-json", "--verbose", "--max-turns", strconv.Itoa(p.MaxTurns)}
	if t.Resume {
		args = append(args, "--resume", t.Conversation)
	} else {
		args = append(args, "--session-id", t.Conversation)
	}
	if tools := allowedTools(t); len(tools) > 0 {
		args = append(args, "--allowedTools", strings.Join(tools, ","))
	}
	if p.Model != "" {
		args = append(args, "--model", p.Model)
	}
	if p.MaxBudgetUSD > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(p.MaxBudgetUSD, 'f', -1, 64))
	}
	if t.Structured {
		args = append(args, "--json-schema", string(t.Kind.Result.ForClaude()))
	}
	return append(args, t.Extra...)
}

// payloads are the callbacks, below /api/claude/, and the file that each posts.
var payloads = []struct{ endpoint, file string }{
	{"progress", "progress.json"},
	{"suggestions", "result.json"},
	{"suggestions/batch", "batch.json"},
	{"result", "result.json"},
	{"failure", "failure.json"},
}

// allowedTools is the kind's own list, plus what calling back needs: files in
// the working directory, and each callback's one command. The rules are exact:
// a prefix would let further URLs, files and options of curl through.
func allowedTools(t Turn) []string {
	tools := slices.Clone(t.Kind.Policy.AllowedTools)
	if t.Structured {
		return tools
	}
	tools = append(tools, "Edit(./**)") // in the CLI's notation, Write as well
	for _, p := range payloads {
		tools = append(tools, "Bash("+curl(t.CallbackBaseURL, p.endpoint, p.file)+")")
	}
	return tools
}

// curl is a command in the one shape that an exact rule lets through: one line,
// literal values, the payload from a file. curl repeats failed attempts with
// exponential backoff and heeds Retry-After.
func curl(baseURL, endpoint, file string) string {
	return "curl -sS -X POST " + baseURL + "/api/claude/" + endpoint +
		" -H 'Content-Type: application/json' --retry 8 --retry-connrefused --retry-max-time 120 -d @" + file
}

// passed are the variables that the CLI gets from our environment; ours,
// secrets among them, stay here.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM", "IS_SANDBOX",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS",
	"DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING",
}

// passedPrefixes are families of such variables.
var passedPrefixes = []string{"LC_", "ANTHROPIC_", "CLAUDE_CODE_", "CLAUDE_CONFIG_", "AWS_", "VERTEX_", "RINGBACK_SIMULATE"}

// Environ returns what of a server's environment the CLI may see.
func Environ(parent []string) []string {
	var kept []string
	for _, entry := range parent {
		name, _, _ := strings.Cut(entry, "=")
		family := slices.ContainsFunc(passedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if family || slices.Contains(passed, name) {
			kept = append(kept, entry)
		}
	}
	return kept
}
