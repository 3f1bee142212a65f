//go:build race

package process

// Most of the programs that a server starts are this program again: its race detector
// needs the server's settings.
func init() { Basics = append(Basics, "GORACE") }
