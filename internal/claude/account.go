package claude

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
)

// signIns are the environment variables that determine how, and at which endpoint, the CLI
// signs in.
var signIns = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL",
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK",
	"ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS",
}

// Account identifies the account that the CLI uses in an environment, so that nodes can
// detect that they share its limits. It returns a digest of the credentials, which cannot
// be recovered from it. Without a key in the environment, it is the account that the CLI's
// user has logged in with. If that account is unknown, the result is unique to this
// machine.
func Account(environ []string) string {
	vars := variables(environ)
	digest, signedIn := sha256.New(), false
	for _, name := range signIns {
		if vars[name] != "" {
			fmt.Fprintf(digest, "%s=%s\n", name, vars[name])
			signedIn = signedIn || name != "ANTHROPIC_BASE_URL"
		}
	}
	if !signedIn {
		fmt.Fprint(digest, loggedIn(userOf(environ).account))
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}

// loggedIn returns the account of a user's login. If it is unknown, the result is unique to
// this machine.
func loggedIn(file string) string {
	var stored struct {
		Account struct {
			ID           string `json:"accountUuid"`
			Organization string `json:"organizationUuid"`
		} `json:"oauthAccount"`
	}
	text, err := os.ReadFile(file)
	if err == nil && json.Unmarshal(text, &stored) == nil && stored.Account.ID != "" {
		return stored.Account.ID + "/" + stored.Account.Organization
	}
	host, _ := os.Hostname()
	return host + ":" + file
}
