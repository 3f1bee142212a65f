// Package test contains the tests of Ringback from outside: with the real binary, a real
// Redis, real processes and the real Claude CLI.
package test
