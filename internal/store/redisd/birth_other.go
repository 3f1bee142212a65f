//go:build !linux

package redisd

// birthOf returns when a file was created; empty, because it is read on Linux only.
func birthOf(string) string { return "" }
