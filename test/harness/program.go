package harness

import (
	"os"
	"syscall"
	"testing"

	"ringback/test/must"
)

// AnswersVersion is the line with which a shell script that plays the CLI responds to
// --version.
const AnswersVersion = `[ "$1" = --version ] && { echo '2.1.0 (Claude Code)'; exit; }` + "\n"

// WriteProgram writes an executable file. It blocks forks while it writes: a forked child
// would briefly inherit the open file, and executing it would fail with ETXTBSY.
func WriteProgram[T string | []byte](t testing.TB, path string, text T) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	must.OK(t, os.WriteFile(path, []byte(text), 0o755))
}
