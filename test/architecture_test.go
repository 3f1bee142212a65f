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

// folders lists, from the top, the folders of internal, and which others each may import.
var folders = map[string][]string{
	"server":   {"web", "turn", "people", "store", "rules", "sandbox", "job", "outbound", "text"},
	"web":      {"turn", "people", "store", "rules", "sandbox", "job", "text"},
	"turn":     {"people", "store", "rules", "sandbox", "job", "outbound", "text"},
	"people":   {"store", "rules", "job", "outbound", "text"},
	"store":    {"rules", "job", "text"},
	"rules":    {"job", "outbound", "text"},
	"sandbox":  {"job", "outbound", "text"},
	"job":      {"text"},
	"outbound": {"text"},
	"text":     {},
	"cli":      {"rules", "job", "text"},
}

// within lists which packages of its own folder each package may import.
var within = map[string][]string{
	"server":                {"server/backup", "server/config", "server/metrics"},
	"web/api":               {"web/apikey", "web/contract", "web/guard", "web/httpjson", "web/hub"},
	"web/callback":          {"web/contract", "web/guard", "web/httpjson"},
	"web/console":           {"web/console/form", "web/httpjson"},
	"web/guard":             {"web/httpjson"},
	"turn/action":           {"turn/claude"},
	"turn/claude/simulated": {"turn/claude"},
	"turn/review":           {"turn/workspace"},
	"turn/runner": {
		"turn/artifact", "turn/claude", "turn/claude/simulated", "turn/model", "turn/review", "turn/workspace",
	},
	"turn/workspace":  {"turn/claude"},
	"store/doctor":    {"store"},
	"store/redisd":    {"store"},
	"store/storetest": {"store", "store/redisd"},
	"rules/approval":  {"rules/condition"},
	"rules/kind":      {"rules/approval", "rules/condition", "rules/intent", "rules/schema"},
	"rules/lifecycle": {"rules/approval", "rules/kind"},
	"sandbox/door":    {"sandbox/process"},
	"sandbox/process": {"sandbox/untrusted"},
	"job":             {"job/limit", "job/price"},
	"job/strictjson":  {"job"},
	"job/transcript":  {"job"},
}

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
		name, ours := strings.CutPrefix(pkg.ImportPath, "ringback/internal/")
		for _, imported := range pkg.Imports {
			imported, internal := strings.CutPrefix(imported, "ringback/internal/")
			switch folder, _, _ := strings.Cut(imported, "/"); {
			case pkg.ImportPath == "ringback/client" && internal && imported != "job":
				t.Errorf("client imports %s", imported)
			case !ours || !internal:
			case strings.HasPrefix(name+"/", folder+"/"):
				if !slices.Contains(within[name], imported) {
					t.Errorf("%s imports %s of its own folder", name, imported)
				}
			case !slices.Contains(folders[strings.Split(name, "/")[0]], folder):
				t.Errorf("%s imports %s", name, imported)
			}
		}
	}
}

// Each folder explains itself on one page, and there are no others.
func TestInternalHasItsFolders(t *testing.T) {
	t.Parallel()
	for _, entry := range must.Get(os.ReadDir("../internal"))(t) {
		if _, known := folders[entry.Name()]; !known {
			t.Errorf("internal/%s is none of the folders", entry.Name())
		}
		must.Get(os.Stat("../internal/" + entry.Name() + "/doc.go"))(t)
	}
}

// encoding/json fills a field also from a member whose name has another case, which no schema has
// checked. Packages that read what Claude, people, repositories and programs wrote use
// job.UnmarshalExact.
func TestWhatOthersWroteIsDecodedExactly(t *testing.T) {
	t.Parallel()
	for _, pkg := range []string{"turn/action", "people/checkpoint", "web/hub", "rules/kind", "rules/lifecycle", "people/notify", "turn/review"} {
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
	"internal/web/apikey":                         "API_KEYS_FILE",
	"internal/rules/intent":                       "files of the binary",
	"internal/turn/claude/api.go":                 "the user's account",
	"internal/turn/claude/config_dir.go":          "the user's settings, and copies of them in a new directory",
	"internal/turn/claude/model.go":               "the user's settings",
	"internal/turn/claude/simulated":              "the stand-in for Claude, a program of the job",
	"internal/cli":                                "the user's commands",
	"internal/server/config":                      ".env",
	"internal/web/console":                        "files of the binary",
	"internal/rules/kind":                         "PROMPTS_DIR and SCHEMAS_DIR",
	"internal/outbound/directory.go":              "repositories of the machine, outside of all jobs",
	"internal/job/price":                          "MODEL_PRICES",
	"internal/sandbox/process/fdstore_linux.go":   "/proc",
	"internal/sandbox/process/filter.go":          "the accounts of the machine",
	"internal/sandbox/process/find_linux.go":      "/proc",
	"internal/sandbox/process/machine_mounts.go":  "the top level of the machine",
	"internal/sandbox/process/mask.go":            "a new file in a directory of the server's",
	"internal/sandbox/process/namespace_linux.go": "/proc",
	"internal/sandbox/process/stray_linux.go":     "/proc",
	"internal/sandbox/process/user.go":            "/proc",
	"internal/turn/runner/confine.go":             "the list of conversations, outside of all jobs",
	"internal/turn/runner/node_dir.go":            "the list of nodes and jobs, outside of all jobs",
	"internal/server":                             "PROMPTS_DIR and SCHEMAS_DIR",
	"internal/store/storetest":                    "the directory of a Redis of the tests",
	"internal/store/redisd":                       "the embedded Redis",
	"internal/sandbox/untrusted":                  "it is the way to open all others",
	"internal/turn/model":                         "certificates",
	"internal/turn/workspace/mirror.go":           "the list of mirrors, outside of all jobs",
	"internal/turn/workspace/nested.go":           "new files in a new worktree, by os.Root",
	"internal/turn/workspace/workspace.go":        "the list of workspaces, outside of all jobs",
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
			if len(found) > 0 && (name == exception || path.Dir(name) == exception) {
				used[exception] = true
				return nil
			}
		}
		for _, call := range found {
			t.Errorf("%s: use internal/sandbox/untrusted, or say in ownFiles why no job can have written the file", call)
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
