package messagesapi

import (
	"os"
	"path/filepath"
	"testing"

	"ringback/test/must"
)

// Env returns the environment in which the CLI calls only this server. Its home directory
// is shared by all processes with the same Env.
func (s *Server) Env(t testing.TB) []string {
	t.Helper()
	home := t.TempDir()
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
		"ANTHROPIC_BASE_URL=" + s.URL,
		"ANTHROPIC_API_KEY=none",
		"CLAUDE_CODE_MAX_RETRIES=1", // by default it retries for minutes
	}
}

// FindCLI returns the path of the real Claude CLI: CLAUDE_TEST_BIN, or the one
// that make deps installs. Without one the test is skipped, but in CI it fails.
func FindCLI(t testing.TB) string {
	t.Helper()
	if bin := os.Getenv("CLAUDE_TEST_BIN"); bin != "" {
		return bin
	}
	if root := moduleRoot(t); root != "" {
		bin := filepath.Join(root, ".tools", "node_modules", ".bin", "claude")
		if _, err := os.Stat(bin); err == nil {
			return bin
		}
	}
	const missing = "the Claude CLI is not installed: run make deps"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// moduleRoot returns the nearest directory with a go.mod, upward from the working
// directory; empty if there is none.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	must.OK(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
