package claude

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
)

// signIns are the variables with which the CLI signs in, or which say where.
var signIns = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL",
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK",
	"ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS",
}

// Account names the account that the CLI uses in an environment, so that nodes know
// whether they share its limits: a digest of what it signs in with, from which that cannot
// be had. Without a key in the environment it is the account that the CLI's user has logged
// in with; where that is not known, no other node's.
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

// loggedIn is the account of a user's login; where it is not known, one of this machine's.
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
