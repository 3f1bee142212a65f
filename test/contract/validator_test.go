package contract

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

const tools = "../../.tools"

// needTool skips a test if an npm package that it needs is not installed.
func needTool(t *testing.T, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(tools, "node_modules", name)); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the npm package %s is not installed: run make deps", name)
		}
		t.Skipf("the npm package %s is not installed: run make deps", name)
	}
}

// ownSchema uses names that may collide with those of a document: references, definitions,
// and fields named like keywords.
const ownSchema = `{
  "type": "object", "required": ["default"],
  "properties": {
    "default": {"$ref": "#/$defs/Line"},
    "enum": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
    "properties": {"type": "object", "properties": {"const": {"$ref": "#/$defs/Line"}}}
  },
  "$defs": {"Line": {"type": "string", "minLength": 1}}
}`

// documents returns the committed contracts, and those of a server with an additional kind.
func documents(t *testing.T) map[string]string {
	t.Helper()
	dir, kinds := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"own.md": "---\ndescription: Is one's own\nevents: one:own\n---\nDo it.", "own.input.json": ownSchema, "own.result.json": ownSchema,
	} {
		must.OK(t, os.WriteFile(filepath.Join(kinds, name), []byte(text), 0o600))
	}
	s := harness.Start(t, harness.Vars{"PROMPTS_DIR": kinds, "SCHEMAS_DIR": kinds}, nil)
	paths := map[string]string{}
	for _, name := range []string{"openapi.json", "asyncapi.json"} {
		served := filepath.Join(dir, name)
		text := harness.Text(t, s.URL+"/"+name)
		must.Contain(t, text, `"own.result"`, "/", name, "does not have the server's own kind")
		must.OK(t, os.WriteFile(served, []byte(text), 0o600))
		paths["served "+name], paths["committed "+name] = served, "../../docs/"+name
	}
	return paths
}

// Widely used validators accept the contracts.
func TestValidatorsTakeTheContracts(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	needTool(t, "@redocly/cli")
	needTool(t, "@asyncapi/parser")
	script := must.Get(filepath.Abs("testdata/asyncapi.mjs"))(t)
	for name, path := range documents(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "node_modules/.bin/redocly"), "lint", "--config", "testdata/redocly.yaml", path)
			if strings.HasSuffix(name, "asyncapi.json") {
				cmd = exec.CommandContext(t.Context(), "node", script, tools, path)
			}
			cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s", out)
			}
		})
	}
}

// Each example fits the schema next to it, and each payload has one.
func TestExamplesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"openapi.json", "asyncapi.json"} {
		text := must.Get(os.ReadFile("../../docs/" + name))(t)
		d := readDocument(t, name, string(text))
		if found := d.checkExamples(t, "", d.root); found < 10 {
			t.Errorf("docs/%s has only %d examples", name, found)
		}
	}
}

// checkExamples checks the examples of a part of the document, and counts them.
func (d *document) checkExamples(t *testing.T, at string, part any) (found int) {
	t.Helper()
	here, ok := part.(object)
	if !ok {
		return 0
	}
	if example, has := here["example"]; has && here["schema"] != nil {
		found++
		must.Equal(t, "", d.fault(here["schema"], example), "the example at", at)
	}
	if list, has := here["examples"].([]any); has && here["payload"] != nil {
		for _, example := range list {
			found++
			must.Equal(t, "", d.fault(here["payload"], example.(object)["payload"]), "the example at", at)
		}
	}
	for name, child := range here {
		if name != "components" {
			found += d.checkExamples(t, at+"/"+name, child)
		}
	}
	return found
}
