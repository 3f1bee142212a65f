package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"ringback/internal/sandbox/process"
	"ringback/internal/text/excerpt"
)

// Tested is the version of the CLI that Ringback's own tests run.
const Tested = "2.1.329"

const versionTimeout = 10 * time.Second

const longestLine = 200

// Version starts the CLI once and returns the version that it reports, such as 2.1.329. parent is
// the server's environment.
func Version(ctx context.Context, bin string, parent []string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, versionTimeout, fmt.Errorf("it did not answer within %s", versionTimeout))
	defer cancel()
	environ := append(process.Pick(parent, process.Basics, process.Person, quiet), "DISABLE_AUTOUPDATER=1") // no credentials
	ended, err := process.Run(ctx, process.Command{Args: []string{bin, "--version"}, Env: environ})
	switch {
	case err != nil:
		return "", fmt.Errorf("%s does not start: %w", bin, err)
	case ended.Code != 0:
		return "", fmt.Errorf("%s --version ended with exit code %d: %s", bin, ended.Code, firstLine(ended.Stderr+ended.Stdout))
	}
	version := strings.TrimSuffix(firstLine(ended.Stdout), " (Claude Code)")
	if version == "" {
		return "", fmt.Errorf("%s --version printed nothing", bin)
	}
	return version, nil
}

// NotSignedIn reports whether the CLI reports that it has no credentials. A CLI that does not
// support the command is assumed to have some; its first turn will show.
func NotSignedIn(ctx context.Context, bin string, parent []string) bool {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	ended, err := process.Run(ctx, process.Command{Args: []string{bin, "auth", "status"}, Env: Environ(parent, 0)})
	var status struct {
		LoggedIn *bool `json:"loggedIn"`
	}
	return err == nil && json.Unmarshal([]byte(ended.Stdout), &status) == nil && status.LoggedIn != nil && !*status.LoggedIn
}

// firstLine returns the first line of an output, in a form that is safe to show.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(line, ""))
	return excerpt.First(strings.TrimSpace(line), longestLine)
}
