package simulated

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringback/internal/turn/claude"
)

func connect(ctx context.Context, to claude.Callback) (*sdk.ClientSession, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "ringback-simulate", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: to.BaseURL + claude.MCPPath, HTTPClient: &http.Client{Transport: signed(to)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting to the MCP server: %w", err)
	}
	return session, nil
}

// signed adds the headers of a turn to each request.
type signed claude.Callback

// RoundTrip implements http.RoundTripper.
func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(claude.HeaderRequestID, s.RequestID)
	r.Header.Set(claude.HeaderSignature, s.Signature)
	return http.DefaultTransport.RoundTrip(r)
}

// useTool makes a callback over MCP. A refusal by the server is also a response.
func (a *actor) useTool(name string, fields map[string]any) (answer []byte, err error) {
	id := a.stream.tool(claude.MCPTool(name), fields)
	result, err := a.mcp.CallTool(a.ctx, &sdk.CallToolParams{Name: name, Arguments: fields})
	if err != nil {
		a.stream.toolResult(id, err.Error(), true)
		return nil, err
	}
	for _, c := range result.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			answer = append(answer, text.Text...)
		}
	}
	a.stream.toolResult(id, string(answer), result.IsError)
	return answer, nil
}

func runCurl(ctx context.Context, dir, command string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+command)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	output, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("curl: %w: %s", err, bytes.TrimSpace(failed.Stderr))
	}
	return output, err
}

// postWithoutCurl replaces curl if it is not installed.
func postWithoutCurl(ctx context.Context, url string, payload []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
