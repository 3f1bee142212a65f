//go:build race

package console

// With the race detector, pools drop some of what they are given, so that more is allocated.
func init() { mostAllocated *= 20 }
