package runner

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/turn/claude"
)

// installedCLI determines the version of the CLI that this node starts. It asks each program
// once; a file with another size or modification time counts as another program.
type installedCLI struct {
	bin     string
	environ []string
	log     *slog.Logger

	mu      sync.Mutex // held while the CLI is asked, too: for some seconds at most
	program os.FileInfo
	known   string
	asked   time.Time
}

// askAgainAfter is the time before a program that did not report its version is asked again.
const askAgainAfter = time.Minute

// version returns the version of the CLI, or job.CLIUnknown if the CLI does not report one.
func (c *installedCLI) version(ctx context.Context) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, err := os.Stat(c.bin)
	if err != nil {
		return job.CLIUnknown
	}
	if c.isProgram(found) && (c.known != job.CLIUnknown || time.Since(c.asked) < askAgainAfter) {
		return c.known
	}
	version, err := claude.Version(ctx, c.bin, c.environ)
	if ctx.Err() != nil {
		return job.CLIUnknown // the turn was cancelled, so the CLI may still answer
	}
	if err != nil {
		c.log.Warn("version of the CLI unknown", "error", err)
		version = job.CLIUnknown
	}
	c.program, c.known, c.asked = found, version, time.Now()
	return version
}

// isProgram reports whether a file is the program whose version is known.
func (c *installedCLI) isProgram(found os.FileInfo) bool {
	return c.program != nil && os.SameFile(found, c.program) &&
		found.Size() == c.program.Size() && found.ModTime().Equal(c.program.ModTime())
}

// knownVersion returns the version without asking the CLI; "" if it would have to be asked.
func (c *installedCLI) knownVersion() string {
	if !c.mu.TryLock() {
		return ""
	}
	defer c.mu.Unlock()
	if found, err := os.Stat(c.bin); err != nil || !c.isProgram(found) {
		return ""
	}
	return c.known
}
