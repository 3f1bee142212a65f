package claude

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// MCPServer is what the CLI knows our MCP server as, and MCPPath where that is served.
const (
	MCPServer = "ringback"
	MCPPath   = "/api/claude/mcp"
)

// MCPTool is what the CLI calls a tool of our MCP server.
func MCPTool(name string) string { return "mcp__" + MCPServer + "__" + name }

// mcpServers is the CLI's --mcp-config.
type mcpServers struct {
	Servers map[string]mcpServer `json:"mcpServers"`
}

type mcpServer struct {
	Type    string            `json:"type"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	// Timeout is how many milliseconds a call may take; the CLI's default is a minute.
	Timeout int64 `json:"timeout"`
	// AlwaysLoad has the CLI wait for the server before it asks the model, and show the
	// model all of the server's tools, however many there are of others.
	AlwaysLoad bool `json:"alwaysLoad"`
}

// MCPConfig is the CLI's --mcp-config by which it calls back over MCP. It holds the
// signature, so it belongs into a file, not into argv. hold is how long a call that asks
// the user may take to answer.
func MCPConfig(c Callback, hold time.Duration) ([]byte, error) {
	return json.Marshal(mcpServers{map[string]mcpServer{MCPServer: {
		Type: "http", URL: c.BaseURL + MCPPath, Headers: c.headers(), Timeout: (hold + patience).Milliseconds(), AlwaysLoad: true,
	}}})
}

// ReadMCPConfig reads what MCPConfig wrote, for whoever plays Claude.
func ReadMCPConfig(text []byte) (c Callback, err error) {
	var config mcpServers
	if err := json.Unmarshal(text, &config); err != nil {
		return c, err
	}
	base, ok := strings.CutSuffix(config.Servers[MCPServer].URL, MCPPath)
	if !ok {
		return c, errors.New("the MCP configuration does not name the server " + MCPServer)
	}
	headers := config.Servers[MCPServer].Headers
	return Callback{BaseURL: base, RequestID: headers[HeaderRequestID], Signature: headers[HeaderSignature]}, nil
}
