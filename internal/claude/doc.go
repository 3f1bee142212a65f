// Package claude knows the Claude CLI. It starts nothing: internal/runner asks here
// what to start, and hands over what was printed.
//
//   - Args, Environ and Settings are the command line, what of our environment the CLI
//     may see, and the hook that has its tools judged. The allowlist in Args holds each
//     callback's one command, word for word; the prompt shows the same words. MCPConfig is the server of the
//     callbacks' tools, for kinds that call back so.
//   - Prompt is what stands in standard input: the kind's prompt, how to call back, and
//     what happened since the last turn. Whatever people or programs wrote goes through
//     one function, escapeFence, so that it can neither close its fence nor have a file read.
//   - ReadPrompt reads a prompt by the template that wrote it (pattern.go), for the
//     stand-in, package simulated.
//   - Reader takes the stream that the CLI prints. It never fails, and nothing in it is
//     a result: those come by callbacks. Explain says why a process ended as it did.
//   - IsCallbackCall tells the tools that are used for nothing but that.
//
// What the CLI does in fact is held by tests against the real one, cli_test.go.
package claude
