package config

import (
	"os"
	"slices"
	"strings"
)

// ReduceEnvironment leaves only those variables in the environment of this process that
// are among the entries. What was read stays in the Config; what is started, by us or by
// a library, cannot inherit it.
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
