package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/test/must"
)

// Numbers in a task file's input keep all their digits, or the file is refused with the field's
// name.
func TestTaskFilesKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"9007199254740993": `9007199254740993`, "123456789012345678901234567890": `123456789012345678901234567890`, "1e400": `1e400`, "-0": `-0`, "-0.0": `-0.0`,
		"1.0": `1.0`, "1": `1`, "0.1000000000000000055511151231257827": `0.1000000000000000055511151231257827`, "1e3": `1e3`, "1.5e-7": `1.5e-7`, "+7": `7`,
		"0x1f": `31`, "0o17": `15`, "1_000": `1000`, `"9007199254740993"`: `"9007199254740993"`, "'1e3'": `"1e3"`, "1.2.3": `"1.2.3"`, "2026-11-21": `"2026-11-21"`,
		"!!str 12": `"12"`, "[1.0, {a: 9007199254740993}]": `[1.0,{"a":9007199254740993}]`, "&n 9007199254740993": `9007199254740993`, "{a: &n 1.0, b: *n}": `{"a":1.0,"b":1.0}`,
		"!!map {a: 1.0}": `{"a":1.0}`, "|-\n    1.0": `"1.0"`, "0xfffffffffffffffffffff": `"0xfffffffffffffffffffff"`, "true": `true`, "~": `null`, "\n    - 1.0\n    - 2.50": `[1.0,2.50]`,
	} {
		var read task
		if err := read.read([]byte("prompt: x\ninput:\n  n: " + written + "\n")); err != nil {
			t.Errorf("%s: %v", written, err)
			continue
		}
		if got, err := json.Marshal(read.Input["n"]); string(got) != want || err != nil {
			t.Errorf("%s has become %s, want %s: %v", written, got, want, err)
		}
	}
	for _, written := range []string{
		".inf", "-.inf", ".nan", ".5", "5.", "01.5", "1_000.5", "!!int 123456789012345678901234567890", "!!float 1.0", `!!int "5"`, "[{n: .inf}]",
	} {
		var read task
		if err := read.read([]byte("prompt: x\ninput:\n  n: " + written + "\n")); err == nil || !strings.Contains(err.Error(), "input.n") {
			t.Errorf("%s was taken as %v: %v", written, read.Input["n"], err)
		}
	}
	var read task
	must.Fail(t, read.read([]byte("input: {n: 1, n: 2}\n")), `"n"`, "a key that stands twice")
}
