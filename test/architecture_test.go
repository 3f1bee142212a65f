package test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringback/test/must"
)

// allowed lists which of our packages each may import, in addition to those in everywhere.
// internal/server and cmd wire everything together.
var allowed = map[string][]string{
	"internal/action":            {"approval", "door", "forbidden", "job", "kind", "lifecycle", "process", "store"},
	"internal/api":               {"apikey", "artifact", "checkpoint", "contract", "doctor", "guard", "httpjson", "hub", "job", "kind", "lifecycle", "notify", "store"},
	"internal/apikey":            {},
	"internal/approval":          {"condition", "job"},
	"internal/artifact":          {},
	"internal/callback":          {"action", "approval", "checkpoint", "claude", "contract", "guard", "httpjson", "job", "kind", "lifecycle", "schema", "store"},
	"internal/checkpoint":        {"approval", "checkpoint/intent", "job", "lifecycle", "schema", "store"},
	"internal/checkpoint/intent": {"job"},
	"internal/claude":            {"job", "kind", "process", "transcript"},
	"internal/claude/simulated":  {"claude", "job", "kind", "schema"},
	"internal/cli":               {"httpjson", "job", "schema", "transcript"},
	"client":                     {"job"},
	"internal/condition":         {},
	"internal/config":            {"apikey", "notify", "outbound"},
	"internal/contract":          {"httpjson", "job", "lifecycle"},
	"internal/excerpt":           {},
	"internal/forbidden":         {"approval", "claude", "process"},
	"internal/guard":             {"httpjson", "job"},
	"internal/gz":                {},
	"internal/httpjson":          {"job"},
	"internal/console":           {"console/form", "httpjson", "job", "transcript"},
	"internal/console/form":      {"job"},
	"internal/doctor":            {"job", "lifecycle", "store"},
	"internal/door":              {"job", "outbound", "process"},
	"internal/hub":               {"contract", "httpjson", "job", "store"},
	"internal/job":               {},
	"internal/kind":              {"approval", "checkpoint/intent", "condition", "job", "outbound", "schema"},
	"internal/lazy":              {},
	"internal/literal":           {},
	"internal/limit":             {},
	"internal/lifecycle":         {"approval", "job", "kind", "outbound"},
	"internal/meter":             {"job", "store", "upstream"},
	"internal/metrics":           {"guard", "job", "store"},
	"internal/notify":            {"job", "outbound"},
	"internal/outbound":          {},
	"internal/outbox":            {"job", "lifecycle", "notify", "store"},
	"internal/price":             {},
	"internal/process":           {},
	"internal/review":            {"checkpoint", "job", "kind", "lifecycle", "process", "store", "workspace"},
	"internal/runner":            {"approval", "artifact", "checkpoint", "claude", "claude/simulated", "door", "forbidden", "httpjson", "job", "kind", "lifecycle", "outbound", "meter", "process", "review", "store", "transcript", "upstream", "workspace"},
	"internal/schema":            {"job"},
	"internal/spelling":          {},
	"internal/store":             {"approval", "job", "lifecycle"},
	"internal/store/storetest":   {"job", "kind", "lifecycle", "schema", "store"},
	"internal/transcript":        {"job"},
	"internal/upstream":          {"job", "outbound"},
	"internal/workspace":         {"approval", "door", "forbidden", "job", "outbound", "process"},
}

// everywhere lists the packages that all may import: they contain nothing specific to
// Ringback.
var everywhere = []string{"excerpt", "gz", "lazy", "limit", "literal", "price", "spelling"}

func TestDependenciesPointOneWay(t *testing.T) {
	t.Parallel()
	out := must.Get(exec.Command("go", "list", "-json=ImportPath,Imports", "../...").Output())(t)
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(pkg.ImportPath, "ringback/")
		may, known := allowed[name]
		if !known && strings.HasPrefix(name, "internal/") && name != "internal/server" {
			t.Errorf("%s is missing in the list of what may import what", name)
		}
		if !known {
			continue
		}
		for _, imported := range pkg.Imports {
			if ours, ok := strings.CutPrefix(imported, "ringback/internal/"); ok && !slices.Contains(may, ours) && !slices.Contains(everywhere, ours) {
				t.Errorf("%s imports %s", name, ours)
			}
		}
	}
}

// encoding/json fills a field also from a member whose name has another case, which no schema has
// checked. Packages that read what Claude, people, repositories and programs wrote use
// job.UnmarshalExact.
func TestWhatOthersWroteIsDecodedExactly(t *testing.T) {
	t.Parallel()
	for _, pkg := range []string{"action", "checkpoint", "hub", "kind", "lifecycle", "notify", "outbox", "review"} {
		for _, file := range must.Get(filepath.Glob("../internal/" + pkg + "/*.go"))(t) {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "review/prepare.go") { // the server's own copy of a change
				continue
			}
			text := string(must.Get(os.ReadFile(file))(t))
			for _, call := range []string{"json.Unmarshal(", "json.NewDecoder("} {
				must.NotContain(t, text, call, file)
			}
		}
	}
}
