package claude

import (
	"path/filepath"
	"slices"
	"strings"
)

// IsCallbackCall reports whether a call of one of the CLI's tools is only a callback:
// people are shown its content instead of the call. It grants no permission; the CLI's
// own allowlist contains exactly these calls. dir is the working directory, empty if
// unknown.
func IsCallbackCall(tool string, input map[string]any, dir string) bool {
	if strings.HasPrefix(tool, MCPTool("")) {
		return true
	}
	switch tool {
	case "Bash":
		command, _ := input["command"].(string)
		return strings.HasPrefix(command, "curl -sS -X POST http") && strings.Contains(command, "/api/claude/") &&
			!strings.ContainsAny(command, "\n;&|<>$`")
	case "Write", "Edit", "Read":
		path, _ := input["file_path"].(string)
		return slices.Contains(PayloadFiles(), filepath.Base(path)) && (dir == "" || liesIn(dir, path))
	case "StructuredOutput": // the CLI itself submits a result with it
		return true
	}
	return false
}

// liesIn reports whether a file is directly in a directory, not in a subdirectory.
func liesIn(dir, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Dir(filepath.Clean(path)) == filepath.Clean(dir)
}
