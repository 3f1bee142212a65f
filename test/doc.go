// Package test holds the tests that see Ringback from outside: the real binary,
// a real Redis, real processes, the real Claude CLI.
package test
