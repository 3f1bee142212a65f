package claude

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
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
