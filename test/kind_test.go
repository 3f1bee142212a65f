package test

import (
	"os"
	"path/filepath"
	"testing"

	"ringback/test/must"
)

// ownKind writes a custom kind and returns the variables that configure it. Without a
// result schema, any object is a valid result.
func ownKind(t *testing.T, name, prompt, resultSchema string) vars {
	t.Helper()
	prompts, schemas := t.TempDir(), t.TempDir()
	files := map[string]string{filepath.Join(prompts, name+".md"): prompt}
	if resultSchema != "" {
		files[filepath.Join(schemas, name+".result.json")] = resultSchema
	}
	for file, text := range files {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return vars{"PROMPTS_DIR": prompts, "SCHEMAS_DIR": schemas}
}
