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

// mcpServers is the CLI's --mcp-config.
type mcpServers struct {
	Servers map[string]mcpServer `json:"mcpServers"`
}

type mcpServer struct {
	Type    string            `json:"type"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	// Timeout limits a call, in milliseconds; the CLI's default is one minute.
	Timeout int64 `json:"timeout"`
	// AlwaysLoad makes the CLI wait for the server before it calls the model, and show the
	// model all of the server's tools, however many tools other servers have.
	AlwaysLoad bool `json:"alwaysLoad"`
}

// MCPConfig returns the CLI's --mcp-config for callbacks over MCP. It contains the
// signature, so it must be passed in a file, not in argv. hold limits how long a call
// waits for the user's answer.
func MCPConfig(c Callback, hold time.Duration) ([]byte, error) {
	return json.Marshal(mcpServers{map[string]mcpServer{MCPServer: {
		Type: "http", URL: c.BaseURL + MCPPath, Headers: c.headers(), Timeout: (hold + patience).Milliseconds(), AlwaysLoad: true,
	}}})
}
