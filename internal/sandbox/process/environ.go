package process

import (
	"fmt"
	"slices"
	"strings"
)

// Variables are names of environment variables; a name that ends in * matches all names
// with that prefix.
type Variables []string

// The variables of our environment that programs may see, by purpose. Programs see no
// others: our environment holds the keys of the API, of the store and of anything else
// that the operator runs.
var (
	// Basics are needed by every program.
	Basics = Variables{
		"PATH",                     // the directories of programs
		"LANG", "LANGUAGE", "LC_*", // the language and encoding of their output
		"TZ",     // the time zone of their output
		"TMPDIR", // a directory with space for temporary files
	}
	// Person is for programs that act as the server's user: their settings and logins are
	// in that user's home.
	Person = Variables{"HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"}
	// Terminal is for programs that start a shell or draw on a terminal.
	Terminal = Variables{"SHELL", "TERM"}
	// Certificates are the additional authorities to trust in a company network; each
	// family of programs has its own name for them.
	Certificates = Variables{
		"SSL_CERT_FILE", "SSL_CERT_DIR", // OpenSSL, Go
		"CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO",
	}
	// Proxies are the proxies of such a network, in both spellings: curl reads only the
	// lowercase http_proxy. A URL may contain a password.
	Proxies = Variables{
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "all_proxy", "no_proxy",
	}
	// Remotes are the logins that git and its helpers use to fetch, push and open pull
	// requests.
	Remotes = Variables{
		"SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND",
		"GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", // the operator's own, which jobs cannot write
	}
	// Toolchains configure compilers and package managers, and the directories of their
	// downloads and builds.
	Toolchains = Variables{
		"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN", "GONOSUMDB", "GOPRIVATE", "GOTMPDIR",
		"JAVA_HOME", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV",
	}
	// Model configures the Claude CLI and its access to the model.
	Model = Variables{
		"ANTHROPIC_*", "CLAUDE_CODE_*", "CLAUDE_CONFIG_*", "API_TIMEOUT_MS", "MAX_THINKING_TOKENS",
		"IS_SANDBOX",         // declares that the container is a sandbox, so that the CLI runs as root
		"RINGBACK_SIMULATE*", // for the simulated Claude
	}
	// Bedrock and Vertex configure access to a model of that cloud. They contain logins of the
	// server's own account, so only a CLI that uses the cloud gets them.
	Bedrock = Variables{"AWS_*"}
	Vertex  = Variables{"VERTEX_*", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"}
)

// Known returns all variables that a program of ours may see.
func Known() []Variables {
	return []Variables{Basics, Person, Terminal, Certificates, Proxies, Remotes, Toolchains, Model, Bedrock, Vertex}
}

// Pick returns the entries of an environment that match the variables.
func Pick(environ []string, among ...Variables) []string {
	var kept []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.ContainsFunc(among, func(v Variables) bool { return v.has(name) }) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// Value returns the value of a variable in an environment; "" if it is not set.
func Value(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) { // the last one counts, as in os/exec
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}

func (v Variables) has(name string) bool {
	return slices.ContainsFunc(v, func(pattern string) bool {
		prefix, isFamily := strings.CutSuffix(pattern, "*")
		return name == pattern || isFamily && strings.HasPrefix(name, prefix)
	})
}

// Limits of Linux on what a program is started with, in bytes: a single argument or variable
// (MAX_ARG_STRLEN, less the NUL that ends it), and all of them together, of which half is left for
// the environment (a quarter of a stack of 8 MiB).
const (
	maxArgument  = 128<<10 - 1
	maxArguments = 1 << 20
)

// ArgumentFault returns why the system would not start a program with these arguments, and the
// index of the argument at fault, or -1 if it is all of them. fault is empty if it would.
func ArgumentFault(args []string) (i int, fault string) {
	all := 0
	for i, arg := range args {
		switch {
		case strings.ContainsRune(arg, 0):
			return i, "contains a NUL character, which no program can be given"
		case len(arg) > maxArgument:
			return i, fmt.Sprintf("has %d bytes; the system gives a program at most %d in one argument", len(arg), maxArgument)
		}
		all += len(arg) + 1
	}
	if all > maxArguments {
		return -1, fmt.Sprintf("has %d bytes; a program gets at most %d", all, maxArguments)
	}
	return 0, ""
}
