package config

import (
	"os"
	"slices"
	"strings"
)

// ReduceEnvironment removes all variables from the environment of this process except those
// in the entries. The Config still contains what was read; processes started by us or by a
// library cannot inherit it.
func ReduceEnvironment(kept []string) error {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if slices.ContainsFunc(kept, func(k string) bool { return strings.HasPrefix(k, name+"=") }) {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}
