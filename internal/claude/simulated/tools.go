package simulated

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringback/internal/claude"
	"ringback/internal/kind"
)

// tools are the callbacks over MCP, configured by the CLI's --mcp-config.
type tools struct {
	*sdk.ClientSession
	listed []*sdk.Tool
}

// connect reads the CLI's --mcp-config and connects to the server in it.
func connect(ctx context.Context, config string) (*tools, error) {
	text, err := os.ReadFile(config)
	if err != nil {
		return nil, fmt.Errorf("reading --mcp-config: %w", err)
	}
	callback, err := claude.ReadMCPConfig(text)
	if err != nil {
		return nil, fmt.Errorf("reading --mcp-config: %w", err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "ringback-simulate", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: callback.BaseURL + claude.MCPPath, HTTPClient: &http.Client{Transport: signed(callback)},
		DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting to the MCP server: %w", err)
	}
	t := &tools{ClientSession: session}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("listing the tools: %w", err)
		}
		t.listed = append(t.listed, tool)
	}
	return t, nil
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

// addTo adds to a prompt's parts what the tools define: the schemas of the result and of
// the actions.
func (t *tools) addTo(p *claude.Parts) error {
	for _, tool := range t.listed {
		text, err := json.Marshal(tool.InputSchema)
		if err != nil {
			return err
		}
		if tool.Name == kind.SubmitResult {
			p.Schema = text
		}
		if !kind.IsActionTool(tool.Name) {
			continue
		}
		var arguments struct {
			Properties struct {
				Input json.RawMessage `json:"input"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(text, &arguments); err != nil {
			return fmt.Errorf("reading the tool %s: %w", tool.Name, err)
		}
		p.Actions = append(p.Actions, claude.ActionPart{Name: tool.Name, Input: arguments.Properties.Input})
	}
	return nil
}

// call calls a tool and returns its response. A refusal by the server is also a response.
func (t *tools) call(ctx context.Context, name string, arguments map[string]any) (answer []byte, refused bool, err error) {
	result, err := t.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return nil, false, err
	}
	for _, c := range result.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			answer = append(answer, text.Text...)
		}
	}
	return answer, result.IsError, nil
}
