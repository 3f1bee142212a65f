package rig

import (
	"os"
	"path/filepath"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// OwnKind writes a custom kind and returns the variables that configure it. Without a
// result schema, any object is a valid result.
func OwnKind(t *testing.T, name, prompt, resultSchema string) harness.Vars {
	t.Helper()
	prompts, schemas := t.TempDir(), t.TempDir()
	files := map[string]string{filepath.Join(prompts, name+".md"): prompt}
	if resultSchema != "" {
		files[filepath.Join(schemas, name+".result.json")] = resultSchema
	}
	for file, text := range files {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return harness.Vars{"PROMPTS_DIR": prompts, "SCHEMAS_DIR": schemas}
}

// KindsDir creates a directory of prompts or schemas.
func KindsDir(t testing.TB, namesAndTexts ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i+1 < len(namesAndTexts); i += 2 {
		must.OK(t, os.WriteFile(filepath.Join(dir, namesAndTexts[i]), []byte(namesAndTexts[i+1]), 0o600))
	}
	return dir
}

// DotenvDir creates a working directory with a .env file.
func DotenvDir(t testing.TB, text string) string {
	t.Helper()
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, ".env"), []byte(text), 0o600))
	return dir
}

// GoRepository creates a bare repository with a small Go module.
func GoRepository(t testing.TB, name string) string {
	t.Helper()
	bare := filepath.Join(t.TempDir(), name+".git")
	harness.GitRepository(t, bare, "main", map[string]string{
		"go.mod": "module example.com/" + name + "\n\ngo 1.20\n", "add.go": "package service\n\nfunc Add(a, b int) int { return a - b }\n",
		"check.sh":    "grep -q 'a + b' add.go && echo ok || { echo wrong sum; exit 1; }\n", // go test would compile the standard library in each job
		"add_test.go": "package service\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"wrong sum\")\n\t}\n}\n",
	})
	return bare
}

// WriteFiles creates executable files under dir.
func WriteFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		harness.WriteProgram(t, path, []byte(text))
	}
}

func OpenGate(t *testing.T, gate string) {
	t.Helper()
	must.OK(t, os.WriteFile(gate, nil, 0o600))
}
