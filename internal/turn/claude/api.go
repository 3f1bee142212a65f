package claude

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"ringback/internal/sandbox/process"
)

// API is the model's API together with the credential that the server's environment has
// for it. With it, the server can call the API on behalf of a turn.
type API struct {
	URL *url.URL
	// Header holds the credential headers that the CLI would send.
	Header http.Header
	// Direct is true if no ANTHROPIC_BASE_URL is set.
	Direct bool
	// placeholders are the variables that hold the CLI's credentials.
	placeholders []string
}

// servedBy are the variables that decide how the CLI reaches the API. If the user's
// settings.json sets one, it overrides the environment, and the CLI calls the API
// itself.
var servedBy = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"}

// clientCertificate is a credential of the TLS connection, which only the CLI can present.
const clientCertificate = "CLAUDE_CODE_CLIENT_CERT"

// ownSignIn returns the setting that makes the CLI sign in by itself, regardless of the
// server's key, or "" if there is none. own are the variables of the environment; all also
// contains those from the user's settings.
func ownSignIn(own, all map[string]string) string {
	for _, name := range servedBy {
		if own[name] != all[name] {
			return name + " of its user's settings.json"
		}
	}
	if all[clientCertificate] != "" {
		return clientCertificate
	}
	if variables := slices.Sorted(maps.Keys(chosenClouds(all))); len(variables) > 0 {
		return variables[0]
	}
	return ""
}

// OwnSignIn returns what the CLI signs in with if APIOf returns no API: the setting, or its
// user's login.
func OwnSignIn(environ []string) string {
	own, all := variables(environ), settingsOf(environ)
	if setting := ownSignIn(own, all); setting != "" {
		return setting
	}
	if own["CLAUDE_CODE_OAUTH_TOKEN"] != "" {
		return "CLAUDE_CODE_OAUTH_TOKEN"
	}
	return "the login of its user in " + userOf(environ).config
}

// APIOf returns the API that the server can call for a CLI in an environment. It returns
// false if the CLI signs in another way: with a login, at a cloud, or through its user's
// settings.
func APIOf(environ []string) (API, bool) {
	own, all := variables(environ), settingsOf(environ)
	if ownSignIn(own, all) != "" {
		return API{}, false
	}
	api := API{Header: http.Header{}, Direct: own["ANTHROPIC_BASE_URL"] == ""}
	if key := own["ANTHROPIC_API_KEY"]; key != "" {
		api.Header.Set("X-Api-Key", key)
		api.placeholders = append(api.placeholders, "ANTHROPIC_API_KEY")
	}
	if token := own["ANTHROPIC_AUTH_TOKEN"]; token != "" {
		api.Header.Set("Authorization", "Bearer "+token)
		api.placeholders = append(api.placeholders, "ANTHROPIC_AUTH_TOKEN")
	}
	for line := range strings.Lines(own["ANTHROPIC_CUSTOM_HEADERS"]) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) != "" {
			api.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	base := own["ANTHROPIC_BASE_URL"]
	if api.Direct {
		base = "https://" + anthropic[0]
	}
	u, err := url.Parse(base)
	api.URL = u
	return api, err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && len(api.placeholders) > 0
}

// Placeholder replaces a credential in the environment of a turn. It grants no access.
const Placeholder = "held-by-the-server"

// withoutCredentials are the variables of process.Model that configure the CLI without
// signing it in.
var withoutCredentials = process.Variables{
	"ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_*", "ANTHROPIC_CUSTOM_MODEL_*", "ANTHROPIC_BETAS",
	"ANTHROPIC_LOG",
	"CLAUDE_CODE_*", "CLAUDE_CONFIG_*", "API_TIMEOUT_MS", "MAX_THINKING_TOKENS", "IS_SANDBOX", "RINGBACK_SIMULATE*",
}

// credentialName matches those of withoutCredentials that hold a credential after all.
var credentialName = regexp.MustCompile(`^CLAUDE_CODE_(OAUTH|CLIENT)_|_(TOKEN|KEY|SECRET|PASSPHRASE)$`)

// assumeFirstParty makes the CLI offer the features that it offers at Anthropic's own
// address.
const assumeFirstParty = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL"

// Environ returns the environment of a CLI that reaches the API through an address of
// the server, with the credentials in environ removed.
func (a API) Environ(environ []string, address string) []string {
	credentials := slices.DeleteFunc(process.Pick(environ, process.Model, process.Bedrock, process.Vertex), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return len(process.Pick([]string{entry}, withoutCredentials)) > 0 && !credentialName.MatchString(name)
	})
	kept := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return slices.Contains(credentials, entry) })
	kept = append(kept, "ANTHROPIC_BASE_URL="+address)
	for _, name := range a.placeholders {
		kept = append(kept, name+"="+Placeholder)
	}
	if a.Direct {
		kept = append(kept, assumeFirstParty+"=1")
	}
	return kept
}

// signIns are the environment variables that determine how, and at which endpoint, the CLI
// signs in.
var signIns = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL",
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK",
	"ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS",
}

// Account identifies the account that the CLI uses in an environment, so that nodes can
// detect that they share its limits. It returns a digest of the credentials, which cannot
// be recovered from it. Without a key in the environment, it is the account of a login, see
// Login. If that is empty, the result is unique to this machine.
func Account(environ []string, login string) string {
	vars := variables(environ)
	digest := sha256.New()
	for _, name := range signIns {
		if vars[name] != "" {
			fmt.Fprintf(digest, "%s=%s\n", name, vars[name])
		}
	}
	if !signsIn(vars) {
		if login == "" {
			host, _ := os.Hostname()
			login = host + ":" + userOf(environ).account
		}
		fmt.Fprint(digest, login)
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}

// signsIn reports whether variables determine the account, whatever login there is.
func signsIn(vars map[string]string) bool {
	return slices.ContainsFunc(signIns, func(name string) bool { return name != "ANTHROPIC_BASE_URL" && vars[name] != "" })
}

// Login returns the account with which the CLI's user has logged in; empty if there is none, or if a key in the
// environment is used instead. It reads a file of the user's, which may take any time.
func Login(environ []string) (string, error) {
	if signsIn(variables(environ)) {
		return "", nil
	}
	text, err := os.ReadFile(userOf(environ).account)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var stored struct {
		Account struct {
			ID           string `json:"accountUuid"`
			Organization string `json:"organizationUuid"`
		} `json:"oauthAccount"`
	}
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err != nil || stored.Account.ID == "" {
		return "", err
	}
	return stored.Account.ID + "/" + stored.Account.Organization, nil
}
