package claude

import (
	"encoding/json"
	"time"
)

// patience is how much longer than HOLD the CLI waits for the answer to its hook, and to a
// call over MCP.
const patience = time.Minute

// The headers in which the CLI's hook says for which request it calls, and its MCP client.
const (
	HeaderRequestID = "X-Ringback-Request-Id"
	HeaderSignature = "X-Ringback-Signature"
)

func (c Callback) headers() map[string]string {
	return map[string]string{HeaderRequestID: c.RequestID, HeaderSignature: c.Signature}
}

// Settings are the CLI's settings that have each call of a tool judged by us
// first. They hold the signature, so they belong into a file, not into argv.
func Settings(c Callback, hold time.Duration) ([]byte, error) {
	type hook struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Timeout int               `json:"timeout"`
	}
	type matcher struct {
		Matcher string `json:"matcher"`
		Hooks   []hook `json:"hooks"`
	}
	return json.Marshal(map[string]any{"hooks": map[string]any{"PreToolUse": []matcher{{
		Matcher: "*",
		Hooks: []hook{{
			Type: "http", URL: c.BaseURL + "/api/claude/tool-calls", Timeout: int((hold + patience).Seconds()),
			Headers: c.headers(),
		}},
	}}}})
}
