// Package claude knows the Claude CLI. It starts no process: internal/turn/runner asks it what to start, and
// passes it the output.
//
//   - Args, Environ and Settings return the command line, the part of the server's environment that the
//     CLI may see, and the hook that intercepts its tool calls. The allowlist in Args contains the exact
//     command of each callback; the prompt shows the same command. MCPConfig configures the server of the
//     callbacks' tools, for kinds that call back over MCP.
//   - Prompt writes standard input: the kind's prompt, how to call back, and what happened since the last
//     turn. All text from people or programs goes through one function, escapeFence, so that it can
//     neither close its fence nor make the CLI open a file.
//   - Reader parses the stream that the CLI prints. It never fails, and it returns no job results: those
//     arrive by callback. Explain returns the reason why a process ended.
//   - IsCallbackCall reports whether a tool call is only a callback.
//
// cli_test.go checks these assumptions against the real CLI.
package claude
