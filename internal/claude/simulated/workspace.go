package simulated

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// readWorkspace finds the repositories of a first prompt, and what a reviewer
// wants in a later one.
func readWorkspace(text string) (repositories []string, wish string) {
	if _, below, found := strings.Cut(text, "\n### Your Workspace\n"); found {
		below, _, _ = strings.Cut(below, "\n### ")
		below, _, _ = strings.Cut(below, "these verifiers run")
		for line := range strings.Lines(below) {
			if name, ok := strings.CutPrefix(line, "- "); ok {
				repositories = append(repositories, strings.TrimSpace(name))
			}
		}
	}
	if _, below, found := strings.Cut(text, "What the reviewer wants:\n\n```\n"); found {
		wish, _, _ = strings.Cut(below, "\n```")
	}
	return repositories, wish
}

// simulatedFile is what the stand-in changes in each repository.
const simulatedFile = "SIMULATED.md"

// change writes what was asked for into each repository of the workspace: it is no
// change of any use, but one that can be looked at, steered and approved.
func (a *actor) change() error {
	wish := a.prompt.wish
	if wish == "" {
		wish, _ = a.prompt.input["prompt"].(string)
	}
	for _, name := range a.prompt.repositories {
		path := filepath.Join(a.opts.Dir, filepath.Base(name), simulatedFile)
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		text = fmt.Appendf(text, "- %s\n", strings.Join(strings.Fields(wish), " "))
		id := a.stream.tool("Write", map[string]string{"file_path": filepath.Join(name, simulatedFile), "content": string(text)})
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
		a.stream.toolResult(id, "File created successfully at: "+path, false)
	}
	return nil
}
