// Package claude knows the Claude CLI: its command line, the prompts that tell
// Claude how to call back, and the stream it prints. It starts nothing.
package claude
