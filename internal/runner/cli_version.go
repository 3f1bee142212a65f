package runner

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ringback/internal/claude"
	"ringback/internal/job"
)

// installedCLI knows the version of the CLI that this node starts. It asks each program once: one
// with another size or time of change is another.
type installedCLI struct {
	bin     string
	environ []string
	log     *slog.Logger

	mu      sync.Mutex
	program program
	known   string
	asked   time.Time
}

// program identifies a program file.
type program struct {
	path     string
	size     int64
	modified time.Time
}

// askAgainAfter is how long a program is left alone that did not say its version.
const askAgainAfter = time.Minute

// version returns the version of the CLI; job.CLIUnknown if it gives no answer.
func (c *installedCLI) version(ctx context.Context) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, err := identify(c.bin)
	if err != nil {
		return job.CLIUnknown
	}
	if found == c.program && (c.known != job.CLIUnknown || time.Since(c.asked) < askAgainAfter) {
		return c.known
	}
	version, err := claude.Version(ctx, c.bin, c.environ)
	if ctx.Err() != nil {
		return job.CLIUnknown // the turn is over, not the question
	}
	if err != nil {
		c.log.Warn("version of the CLI unknown", "error", err)
		version = job.CLIUnknown
	}
	c.program, c.known, c.asked = found, version, time.Now()
	return version
}

// identify returns what bin is, behind all links.
func identify(bin string) (program, error) {
	path, err := filepath.EvalSymlinks(bin)
	if err != nil {
		return program{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return program{}, err
	}
	return program{path, info.Size(), info.ModTime()}, nil
}

// cliVersion is the version of what runs the turns of a job on this node.
func (r *Runner) cliVersion(ctx context.Context, j job.Job) string {
	if j.Simulated {
		return job.CLISimulated
	}
	return r.cli.version(ctx)
}
