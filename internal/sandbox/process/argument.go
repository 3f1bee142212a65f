package process

import (
	"fmt"
	"strings"
)

// Limits of Linux on what a program is started with, in bytes: a single argument or variable
// (MAX_ARG_STRLEN, less the NUL that ends it), and all of them together, of which half is left for
// the environment (a quarter of a stack of 8 MiB).
const (
	maxArgument  = 128<<10 - 1
	maxArguments = 1 << 20
)

// ArgumentFault returns why the system would not start a program with these arguments, and the
// index of the argument at fault, or -1 if it is all of them. fault is empty if it would.
func ArgumentFault(args []string) (i int, fault string) {
	all := 0
	for i, arg := range args {
		switch {
		case strings.ContainsRune(arg, 0):
			return i, "contains a NUL character, which no program can be given"
		case len(arg) > maxArgument:
			return i, fmt.Sprintf("has %d bytes; the system gives a program at most %d in one argument", len(arg), maxArgument)
		}
		all += len(arg) + 1
	}
	if all > maxArguments {
		return -1, fmt.Sprintf("has %d bytes; a program gets at most %d", all, maxArguments)
	}
	return 0, ""
}
