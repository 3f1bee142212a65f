//go:build race

package fault

// buildFlags build the server as the tests are built.
var buildFlags = []string{"-race"}
