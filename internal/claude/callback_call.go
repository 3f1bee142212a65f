package claude

import (
	"path/filepath"
	"slices"
	"strings"
)

// IsCallbackCall reports whether a call of one of the CLI's tools does nothing but
// call back: people are shown what it brings, not the call. It gives no permission:
// the CLI's own allowlist holds exactly these calls. dir is the working directory;
// empty where it is not known.
func IsCallbackCall(tool string, input map[string]any, dir string) bool {
	if strings.HasPrefix(tool, MCPTool("")) {
		return true
	}
	switch tool {
	case "Bash":
		command, _ := input["command"].(string)
		return strings.HasPrefix(command, "curl -sS -X POST http") && strings.Contains(command, "/api/claude/") && !strings.ContainsAny(command, "\n;&|<>$`")
	case "Write", "Edit", "Read":
		path, _ := input["file_path"].(string)
		return slices.Contains(PayloadFiles(), filepath.Base(path)) && (dir == "" || liesIn(dir, path))
	case "StructuredOutput": // by which the CLI itself hands over a result
		return true
	}
	return false
}

// liesIn reports whether a file is in a directory, and not in one below it.
func liesIn(dir, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Dir(filepath.Clean(path)) == filepath.Clean(dir)
}
