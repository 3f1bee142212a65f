package process_test

import (
	"os/exec"
	"strings"
	"testing"

	"ringback/internal/sandbox/process"
	"ringback/test/must"
)

// The limit is that of the system: what is reported does not start, and what is not does.
func TestArgumentsThatNoProgramCanBeGiven(t *testing.T) {
	t.Parallel()
	const longest = 128<<10 - 1
	for name, c := range map[string]struct {
		args  []string
		index int
		fault string
	}{
		"none":                  {nil, 0, ""},
		"short ones":            {[]string{"", "a", "b c"}, 0, ""},
		"one as long as can be": {[]string{"a", strings.Repeat("x", longest)}, 0, ""},
		"one byte more":         {[]string{"a", strings.Repeat("x", longest+1)}, 1, "has 131072 bytes; the system gives a program at most 131071 in one argument"},
		"a NUL":                 {[]string{"a", "b", "c\x00"}, 2, "contains a NUL character, which no program can be given"},
	} {
		index, fault := process.ArgumentFault(c.args)
		must.Equal(t, c.index, index, name)
		must.Equal(t, c.fault, fault, name)
		must.Equal(t, fault == "", exec.Command("true", c.args...).Run() == nil, name+": starts")
	}
	many := make([]string, 20)
	for i := range many {
		many[i] = strings.Repeat("x", 60_000)
	}
	index, fault := process.ArgumentFault(many)
	must.Equal(t, -1, index, "of all together")
	must.Equal(t, "has 1200020 bytes; a program gets at most 1048576", fault)
}
