//go:build race

package process

// Most of what a server starts is this program again: its race detector is set as the
// server's own.
func init() { Basics = append(Basics, "GORACE") }
