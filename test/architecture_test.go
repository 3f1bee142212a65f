package test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringback/test/must"
)

// allowed lists which of our packages each may import, in addition to those in everywhere.
// internal/server and cmd wire everything together.
var allowed = map[string][]string{
	"internal/action":            {"approval", "door", "forbidden", "job", "kind", "lifecycle", "process", "store", "untrusted"},
	"internal/api":               {"apikey", "artifact", "checkpoint", "contract", "doctor", "guard", "httpjson", "hub", "job", "kind", "lifecycle", "notify", "store"},
	"internal/apikey":            {},
	"internal/approval":          {"condition", "job"},
	"internal/artifact":          {"untrusted"},
	"internal/callback":          {"action", "approval", "checkpoint", "claude", "contract", "guard", "httpjson", "job", "kind", "lifecycle", "notify", "schema", "store", "untrusted"},
	"internal/checkpoint":        {"approval", "checkpoint/intent", "job", "lifecycle", "outbound", "schema", "store"},
	"internal/checkpoint/intent": {"job"},
	"internal/claude":            {"job", "kind", "process", "transcript", "untrusted"},
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
	"internal/meter":             {"job", "store", "untrusted", "upstream"},
	"internal/metrics":           {"guard", "job", "store"},
	"internal/notify":            {"job", "outbound"},
	"internal/outbound":          {},
	"internal/outbox":            {"job", "lifecycle", "notify", "store"},
	"internal/price":             {},
	"internal/process":           {"untrusted"},
	"internal/review":            {"checkpoint", "job", "kind", "lifecycle", "process", "store", "workspace"},
	"internal/runner":            {"approval", "artifact", "checkpoint", "claude", "claude/simulated", "door", "forbidden", "httpjson", "job", "kind", "lifecycle", "meter", "outbound", "process", "review", "store", "transcript", "untrusted", "upstream", "workspace"},
	"internal/schema":            {"job"},
	"internal/spelling":          {},
	"internal/store":             {"approval", "job", "lifecycle"},
	"internal/store/storetest":   {"job", "kind", "lifecycle", "schema", "store"},
	"internal/transcript":        {"job"},
	"internal/untrusted":         {},
	"internal/upstream":          {"job", "outbound"},
	"internal/workspace":         {"approval", "door", "forbidden", "job", "outbound", "process", "untrusted"},
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

// openers open, list or remove files by their path, and follow links or block on pipes that a job may
// have put there.
var openers = map[string][]string{
	"os":                    {"Open", "OpenFile", "OpenRoot", "ReadFile", "ReadDir", "WriteFile", "Create", "RemoveAll", "DirFS", "CopyFS"},
	"path/filepath":         {"Walk", "WalkDir", "Glob"},
	"io/fs":                 {"WalkDir", "ReadFile", "ReadDir", "Glob"},
	"io/ioutil":             {"ReadFile", "ReadDir", "WriteFile"},
	"syscall":               {"Open", "Openat", "Unlink", "Unlinkat"},
	"golang.org/x/sys/unix": {"Open", "Openat", "Openat2", "Unlink", "Unlinkat", "Renameat", "Mkdirat"},
}

// ownFiles are packages and files that open no file that a job may have written, and what they open.
var ownFiles = map[string]string{
	"internal/apikey":                     "API_KEYS_FILE",
	"internal/checkpoint/intent":          "files of the binary",
	"internal/claude/account.go":          "the user's account",
	"internal/claude/config_dir.go":       "the user's settings, and copies of them in a new directory",
	"internal/claude/model.go":            "the user's settings",
	"internal/claude/simulated":           "the stand-in for Claude, a program of the job",
	"internal/cli":                        "the user's commands",
	"internal/config":                     ".env",
	"internal/console":                    "files of the binary",
	"internal/kind":                       "PROMPTS_DIR and SCHEMAS_DIR",
	"internal/outbound/directory.go":      "repositories of the machine, outside of all jobs",
	"internal/price":                      "MODEL_PRICES",
	"internal/process/fdstore_linux.go":   "/proc",
	"internal/process/filter.go":          "the accounts of the machine",
	"internal/process/find_linux.go":      "/proc",
	"internal/process/machine_mounts.go":  "the top level of the machine",
	"internal/process/mask.go":            "a new file in a directory of the server's",
	"internal/process/namespace_linux.go": "/proc",
	"internal/process/stat_linux.go":      "/proc",
	"internal/process/stray_linux.go":     "/proc",
	"internal/process/user.go":            "/proc",
	"internal/runner/confine.go":          "the list of conversations, outside of all jobs",
	"internal/runner/node_dir.go":         "the list of nodes and jobs, outside of all jobs",
	"internal/runner/spread_linux.go":     "the list of jobs, outside of all jobs",
	"internal/server":                     "PROMPTS_DIR and SCHEMAS_DIR",
	"internal/store":                      "the embedded Redis",
	"internal/untrusted":                  "it is the way to open all others",
	"internal/upstream":                   "certificates",
	"internal/workspace/mirror.go":        "the list of mirrors, outside of all jobs",
	"internal/workspace/nested.go":        "new files in a new worktree, by os.Root",
	"internal/workspace/workspace.go":     "the list of workspaces, outside of all jobs",
}

// A job may swap its files for links, pipes and devices while the server opens them.
func TestFilesOfJobsAreOpenedInOneWay(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	must.OK(t, filepath.WalkDir("../internal", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		found := openersIn(t, file)
		name := strings.TrimPrefix(file, "../")
		for exception := range ownFiles {
			if len(found) > 0 && (name == exception || strings.HasPrefix(name, exception+"/")) {
				used[exception] = true
				return nil
			}
		}
		for _, call := range found {
			t.Errorf("%s: use internal/untrusted, or say in ownFiles why no job can have written the file", call)
		}
		return nil
	}))
	for exception := range ownFiles {
		if !used[exception] {
			t.Errorf("%s opens nothing and needs no exception", exception)
		}
	}
}

// openersIn returns where a file of source code mentions one of the openers.
func openersIn(t *testing.T, file string) (found []string) {
	t.Helper()
	files := token.NewFileSet()
	parsed := must.Get(parser.ParseFile(files, file, nil, 0))(t)
	imported := map[string]string{}
	for _, spec := range parsed.Imports {
		from := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(from)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = from
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := selector.X.(*ast.Ident); ok && slices.Contains(openers[imported[pkg.Name]], selector.Sel.Name) {
			found = append(found, files.Position(selector.Pos()).String()+" "+pkg.Name+"."+selector.Sel.Name)
		}
		return true
	})
	return found
}
