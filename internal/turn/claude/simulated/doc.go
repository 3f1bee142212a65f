// Package simulated is a simulated Claude: a program that takes the CLI's command line
// and prompt, prints the same stream, and really runs curl against the callbacks. It
// makes no requests to any model.
package simulated
