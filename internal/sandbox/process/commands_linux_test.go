package process_test

import (
	"testing"
	"time"

	"ringback/internal/sandbox/process"
	"ringback/test/must"
)

// Processes that a program runs in other sessions are ended, even if they change their environment
// or ignore SIGTERM, and the program continues.
func TestCommandsEndAndTheirProgramGoesOn(t *testing.T) {
	t.Parallel()
	const script = `
setsid sleep 1000 &
setsid sh -c 'trap "" TERM; env -i sleep 1001 & touch deaf; while :; do sleep 0.1; done' &
one=$!
sh -c 'while [ ! -e go ]; do sleep 0.02; done' &
same=$!
while [ ! -e deaf ]; do sleep 0.02; done
echo begun
wait $one
touch go
wait $same && echo "same session: $?"
exec sleep 1002`
	s := newSandbox(t)
	bare := detached(t, script)
	for name, d := range map[string]process.Detached{"in a sandbox": s.detached(t, script), "without": bare} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, d)
			must.Equal(t, "begun\n", read(t, d.Files.Stdout))
			if n := p.EndCommands(200 * time.Millisecond); n < 3 {
				t.Errorf("%d processes were ended", n)
			}
			must.Eventually(t, "the program to go on", func() bool { return read(t, d.Files.Stdout) != "begun\n" })
			must.Equal(t, "begun\nsame session: 0\n", read(t, d.Files.Stdout), "it printed")
			must.Equal(t, 0, p.EndCommands(time.Second), "processes are left")
			select {
			case <-p.Done():
				t.Error("the program has ended")
			default:
			}
		})
	}
}
