package harness

import (
	"os"
	"syscall"
	"testing"
)

// WriteProgram writes a file that can be run. No process is started meanwhile: for a moment it would
// have the file open for writing, too, and the kernel runs no such file (ETXTBSY).
func WriteProgram[T string | []byte](t testing.TB, path string, text T) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
