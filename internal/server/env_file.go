package server

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"ringback/internal/rules/kind"
	"ringback/internal/sandbox/process"
	"ringback/internal/server/config"
)

// checkEnvFile warns about a .env file that every user on the machine can read.
func checkEnvFile(c config.Config) []string {
	info, err := os.Stat(c.EnvFile)
	if c.EnvFile == "" || err != nil || info.Mode().Perm()&0o007 == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s can be read by every user of this machine: chmod o= it", c.EnvFile)}
}

// misspeltSettings returns warnings about variables that have no effect although their names are
// close to settings, and others about what else a .env file sets in vain. The latter are not for
// everyone with access to /readyz.
func misspeltSettings(c config.Config, kinds *kind.Registry) (misspelt, others []string) {
	var used []string // by commands of actions
	for _, k := range kinds.All() {
		for _, a := range k.Policy.Actions {
			for _, value := range a.Env {
				os.Expand(value, func(name string) string { used = append(used, name); return "" })
			}
		}
	}
	misspelt, others = c.Unread(func(name string) bool {
		return slices.Contains(used, name) || len(process.Pick([]string{name + "="}, process.Known()...)) > 0
	})
	if len(others) > 0 {
		others = []string{c.EnvFile + " sets what neither Ringback nor anything that it starts reads: " + strings.Join(others, ", ")}
	}
	return misspelt, others
}
