package process

import (
	"slices"
	"strings"
)

// Variables are names of environment variables; one that ends in * stands for all
// that begin so.
type Variables []string

// What programs that we start may see of our own environment, by what they need it
// for. Nothing else reaches them: ours holds the keys of the API, of the store and
// of whatever else the operator runs.
var (
	// Basics is what any program needs to run at all.
	Basics = Variables{
		"PATH",                     // where programs lie
		"LANG", "LANGUAGE", "LC_*", // the language and the encoding of what they print
		"TZ",     // the times they print
		"TMPDIR", // where there is room for temporary files
	}
	// Person is for programs that act as the user who runs the server: their
	// settings and logins lie in that home.
	Person = Variables{"HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"}
	// Terminal is for programs that start a shell or paint.
	Terminal = Variables{"SHELL", "TERM"}
	// Certificates are the authorities that a company's network wants trusted; each
	// family of programs has its own name for them.
	Certificates = Variables{
		"SSL_CERT_FILE", "SSL_CERT_DIR", // OpenSSL, Go
		"CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO",
	}
	// Proxies are the way out of such a network, in both spellings: curl reads
	// http_proxy in small letters only. An address may hold a password.
	Proxies = Variables{
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "all_proxy", "no_proxy",
	}
	// Remotes are the logins by which git and its helpers fetch, push and open pull
	// requests.
	Remotes = Variables{
		"SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND",
		"GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", // the operator's own, where jobs cannot write
	}
	// Toolchains say where compilers and package managers are, and keep what they
	// have fetched and built.
	Toolchains = Variables{
		"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN", "GONOSUMDB", "GOPRIVATE", "GOTMPDIR",
		"JAVA_HOME", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV",
	}
	// Model is how the Claude CLI is set up and reaches its model.
	Model = Variables{
		"ANTHROPIC_*", "CLAUDE_CODE_*", "CLAUDE_CONFIG_*", "API_TIMEOUT_MS", "MAX_THINKING_TOKENS",
		"IS_SANDBOX",         // the CLI runs as root in a container that says so
		"RINGBACK_SIMULATE*", // for the stand-in
	}
	// Bedrock and Vertex are how the CLI reaches a model of that cloud. They hold logins of the
	// server's own account, so a CLI that does not use the cloud gets none of them.
	Bedrock = Variables{"AWS_*"}
	Vertex  = Variables{"VERTEX_*", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"}
)

// Known are all variables that something we start may see.
func Known() []Variables {
	return []Variables{Basics, Person, Terminal, Certificates, Proxies, Remotes, Toolchains, Model, Bedrock, Vertex}
}

// Pick returns those entries of an environment that are among the variables.
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

// Value returns what an environment says of a variable; "" for none.
func Value(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) { // the last one counts, as os/exec has it
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
