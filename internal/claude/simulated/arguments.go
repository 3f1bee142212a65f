package simulated

import "strings"

// arguments are the CLI arguments that the simulated Claude uses.
type arguments struct {
	conversation string
	resume       bool
	// mcpConfig is the file that configures the callbacks' MCP server; empty for curl.
	mcpConfig string
	// schema is the JSON Schema of the structured output; hasSchema is set if one was
	// asked for.
	schema    string
	hasSchema bool
}

// readArguments accepts both ways to write a flag: "--flag value" and "--flag=value".
func readArguments(args []string) arguments {
	var a arguments
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "--session-id":
			a.conversation = value
		case "--resume", "-r":
			a.conversation, a.resume = value, true
		case "--mcp-config":
			a.mcpConfig = value
		case "--json-schema":
			a.schema, a.hasSchema = value, true
		}
	}
	return a
}
