package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ringback/test/rig"
	"ringback/test/sample"
)

// subcommands returns all commands in the help.
func subcommands(t *testing.T) []string {
	t.Helper()
	_, help, _ := rig.Ringback(t, nil, "--help")
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^  (\S+)`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	if !slices.Contains(names, "simulate") || len(names) < 15 {
		t.Fatalf("the help lists %q", names)
	}
	return names
}

func TestAskingForHelpDoesNothingElse(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Of(t, 15, subcommands(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, args := range [][]string{{name, "--help"}, {name, "-h"}, {"help", name}} {
				begin := time.Now()
				code, out, files := rig.Ringback(t, nil, args...)
				if code != 0 || !strings.Contains(out, "Usage:") || len(files) > 0 {
					t.Errorf("%q: exit code %d, files %q, took %s, says %s", args, code, files, time.Since(begin), out)
				}
			}
			code, out, files := rig.Ringback(t, nil, name, "--no-such-flag")
			if name == "help" {
				return
			}
			if code != 2 || !strings.Contains(out, "--help") || len(files) > 0 {
				t.Errorf("an unknown flag: exit code %d, files %q, says %s", code, files, out)
			}
		})
	}
}

// A service or a cron job may have no home directory: commands work without one.
func TestCommandsNeedNoHome(t *testing.T) {
	t.Parallel()
	env := vars{"HOME": "", "XDG_CONFIG_HOME": "", "RINGBACK_URL": ""}
	for _, args := range [][]string{{"list", "--limit", "1"}, {"context"}} {
		if _, out, _ := rig.Ringback(t, env, args...); strings.Contains(out, "$HOME") {
			t.Errorf("ringback %s: %s", strings.Join(args, " "), out)
		}
	}
	if code, out, _ := rig.Ringback(t, env, "context", "set", "prod", "--server", "https://jobs.example.com"); code == 0 || !strings.Contains(out, "$HOME") {
		t.Errorf("a context that cannot be kept: %d %s", code, out)
	}
}
