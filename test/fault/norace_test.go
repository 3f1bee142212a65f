//go:build !race

package fault

// buildFlags build the server as the tests are built: as it ships.
var buildFlags []string
