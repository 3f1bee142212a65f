package cli

import (
	"fmt"
	"testing"
)

// A task file decodes to the text its author meant, in any YAML escape.
func TestTaskFilesReadEveryEscape(t *testing.T) {
	t.Parallel()
	for escape, want := range map[string]string{`\x26`: "&", `\u0026`: "&", `\U00000026`: "&", `\u00e9`: "é", `\n`: "\n", `\t`: "\t", `\"`: `"`, `\\`: `\`, `\/`: "/", `\e`: "\x1b"} {
		for _, shape := range []string{
			"repos: [\"/r%sx\"]\nverifiers: [\"a: b%sx\"]", "repos: [{url: \"/r%sx\"}]\nverifiers: [{name: a, command: \"b%sx\"}]",
			"repos: [{url: &u \"/r%sx\"}, *u]\nverifiers: [&v {name: a, command: \"b%sx\"}, *v]",
		} {
			var read task
			text := "prompt: x\n" + fmt.Sprintf(shape, escape, escape)
			if err := read.read([]byte(text)); err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			for i := range read.Repos {
				if url, command := read.Repos[i].URL, read.Verifiers[i].Command; url != "/r"+want+"x" || command != "b"+want+"x" {
					t.Errorf("%s has become %q and %q", text, url, command)
				}
			}
		}
	}
}
