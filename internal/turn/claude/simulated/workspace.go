package simulated

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const simulatedFile = "SIMULATED.md"

// change writes the request into each repository of the workspace. The change is
// useless, but it can be reviewed, steered and approved.
func (a *actor) change() error {
	wanted := a.turn.SteerRequest
	if wanted == "" {
		wanted, _ = a.input["prompt"].(string)
	}
	for _, name := range a.turn.Repositories {
		path := filepath.Join(a.opts.Dir, filepath.Base(name), simulatedFile)
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		text = fmt.Appendf(text, "- %s\n", strings.Join(strings.Fields(wanted), " "))
		id := a.stream.tool("Write", map[string]any{"file_path": filepath.Join(name, simulatedFile), "content": string(text)})
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
		a.stream.toolResult(id, "File created successfully at: "+path, false)
	}
	return nil
}
