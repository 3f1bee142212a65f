// Package messagesapi is a Messages API on loopback that replies from a script, so that
// tests can run the real Claude CLI without a model or a network:
//
//	api := messagesapi.Start(t, messagesapi.Steps(
//		messagesapi.Use("Write", map[string]any{"file_path": file, "content": "{}"}),
//		messagesapi.Bash("curl -sS …"),
//		messagesapi.Say("done"),
//	))
//	cmd := exec.CommandContext(t.Context(), messagesapi.FindCLI(t), "-p", …)
//	cmd.Env = api.Env(t)
//
// The CLI really runs the tools that the script uses, under its own permission rules; a
// script sees their results and can react to them.
package messagesapi
