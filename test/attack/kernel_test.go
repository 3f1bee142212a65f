package attack

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"ringback/test/must"
)

// In a sandbox, nothing of the kernel can be written, and the interfaces that lead out of a
// sandbox, or often have, are missing. The attempts would do no harm if they succeeded:
// files are opened and not written, because they belong to the machine that runs the test.
func TestTheKernelsDoorsAreClosed(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile("testdata/kernel.py")
	must.OK(t, err)
	inEachSandbox(t, func(a *attacked) {
		script := "{ echo " + base64.StdEncoding.EncodeToString(program) + " | base64 -d > kernel.py; python3 kernel.py; }"
		var said string
		if a.place == inAction {
			said = a.run(script)
		} else {
			said = a.runInJob(script + " | base64 -w0")
		}
		var found struct {
			Writable, Told []string
			Seen           int
			Calls, Works   map[string]string
		}
		if err := json.Unmarshal([]byte(said), &found); err != nil {
			a.t.Fatalf("%v: %.2000s", err, said)
		}
		if len(found.Writable) > 0 || len(found.Told) > 0 || found.Seen < 1000 {
			a.t.Errorf("of %d files, %q can be written, and %q tell of others", found.Seen, found.Writable, found.Told)
		}
		for name, got := range found.Calls {
			if !slices.Contains([]string{"EPERM", "ENOSYS", "EAFNOSUPPORT"}, got) {
				a.t.Errorf("%s: %s", name, got)
			}
		}
		for _, name := range []string{"io_uring_setup", "clone3", "x32", "i386", "a newer call"} {
			if got := found.Calls[name]; got != "ENOSYS" && got != "" {
				a.t.Errorf("%s: %s, want ENOSYS, at which programs do something else", name, got)
			}
		}
		for name, got := range found.Works {
			if got != "done" {
				a.t.Errorf("%s does not work: %s", name, got)
			}
		}
	})
}
