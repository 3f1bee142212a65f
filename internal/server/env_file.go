package server

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"ringback/internal/config"
	"ringback/internal/kind"
	"ringback/internal/process"
)

// checkEnvFile warns about a .env file that every user on the machine can read.
func checkEnvFile(c config.Config) []string {
	info, err := os.Stat(c.EnvFile)
	if c.EnvFile == "" || err != nil || info.Mode().Perm()&0o007 == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s can be read by every user of this machine: chmod o= it", c.EnvFile)}
}

// unreadVariables returns the variables that a .env file sets and that neither the server nor the
// programs that it starts read.
func unreadVariables(c config.Config, kinds *kind.Registry) []string {
	read := config.Variables()
	for _, k := range kinds.All() {
		for _, a := range k.Policy.Actions {
			for _, value := range a.Env {
				os.Expand(value, func(name string) string { read = append(read, name); return "" })
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(c.EnvFileNames), func(name string) bool {
		return slices.Contains(read, name) || len(process.Pick([]string{name + "="}, process.Known()...)) > 0
	})
}

// checkAccount reports notes about the server's account and what its .env file sets.
func checkAccount(c config.Config, kinds *kind.Registry) []Finding {
	var found []Finding
	if names := unreadVariables(c, kinds); len(names) > 0 {
		found = append(
			found,
			note("%s sets what neither Ringback nor anything that it starts reads: %s", c.EnvFile, strings.Join(names, ", ")),
		)
	}
	if os.Geteuid() == 0 {
		found = append(found, note("this is root: run the server as a user of its own (docs/how-to/deploy.md)"))
	}
	return found
}
