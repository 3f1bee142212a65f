package claude

import (
	"encoding/json"
	"time"
)

// MCPServer is our MCP server's name in the CLI, and MCPPath the path that it is served
// at.
const (
	MCPServer = "ringback"
	MCPPath   = "/api/claude/mcp"
)

// MCPTool returns the CLI's name for a tool of our MCP server.
func MCPTool(name string) string { return "mcp__" + MCPServer + "__" + name }

// MCPConfig returns the CLI's --mcp-config for callbacks over MCP. It contains the
// signature, so it must be passed in a file, not in argv. hold limits how long a call
// waits for the user's answer.
func MCPConfig(c Callback, hold time.Duration) ([]byte, error) {
	return json.Marshal(map[string]any{"mcpServers": map[string]any{MCPServer: map[string]any{
		"type": "http", "url": c.BaseURL + MCPPath, "headers": c.headers(),
		"timeout": (hold + patience).Milliseconds(), // for a call; the CLI's default is one minute
		// The CLI waits for the server before it calls the model, and shows the model all of its tools,
		// however many tools other servers have.
		"alwaysLoad": true,
	}}})
}
