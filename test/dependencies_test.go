package test

import (
	"encoding/json"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ringback/test/must"
)

// leastVersions lists, for Go and for modules that had known vulnerabilities, the version that fixed the latest
// one, and its entry in the Go vulnerability database (https://pkg.go.dev/vuln/GO-…) or in GitHub's. make vuln
// asks the database, and .ci/run does so if it can be reached; this list holds everywhere.
var leastVersions = []struct{ module, version, fixes string }{
	{"go", "1.26.6", "GO-2026-6218"},
	{"github.com/buger/jsonparser", "1.1.2", "GO-2026-4514"},
	{"github.com/expr-lang/expr", "1.17.7", "GO-2025-4245"},
	{"github.com/golang-jwt/jwt/v5", "5.2.2", "GO-2025-3553"},
	{"github.com/gorilla/websocket", "1.4.1", "GO-2020-0019"},
	{"github.com/labstack/echo/v4", "4.15.3", "GHSA-vfp3-v2gw-7wfq"},
	{"github.com/microcosm-cc/bluemonday", "1.0.16", "GO-2022-0588"},
	{"github.com/modelcontextprotocol/go-sdk", "1.4.1", "GO-2026-4773"},
	{"github.com/prometheus/client_golang", "1.11.1", "GO-2022-0322"},
	{"github.com/redis/go-redis/v9", "9.7.3", "GO-2025-3540"},
	{"github.com/yuin/goldmark", "1.7.17", "GO-2026-5320"},
	{"golang.org/x/crypto", "0.52.0", "GO-2026-5033"},
	{"golang.org/x/image", "0.45.0", "GO-2026-6222"},
	{"golang.org/x/net", "0.56.0", "GO-2026-5942"},
	{"golang.org/x/oauth2", "0.27.0", "GO-2025-3488"},
	{"golang.org/x/sys", "0.44.0", "GO-2026-5024"},
	{"golang.org/x/text", "0.39.0", "GO-2026-5970"},
	{"google.golang.org/protobuf", "1.33.0", "GO-2024-2611"},
}

func TestNoDependencyHasAKnownVulnerability(t *testing.T) {
	t.Parallel()
	var mod struct {
		Go      string
		Require []struct{ Path, Version string }
	}
	must.OK(t, json.Unmarshal(must.Get(exec.Command("go", "mod", "edit", "-json", "../go.mod").Output())(t), &mod))
	versions := map[string]string{"go": mod.Go}
	for _, r := range mod.Require {
		versions[r.Path] = strings.TrimPrefix(r.Version, "v")
	}
	for _, least := range leastVersions {
		if have, used := versions[least.module]; !used {
			t.Errorf("go.mod has no %s any longer: remove it from the list", least.module)
		} else if version.Compare("go"+have, "go"+least.version) < 0 { // it orders versions of modules, too
			t.Errorf("%s %s is vulnerable (%s): go.mod must require %s or later", least.module, have, least.fixes, least.version)
		}
	}
	if version.Compare(runtime.Version(), "go"+leastVersions[0].version) < 0 {
		t.Errorf("%s runs the tests: it is vulnerable (%s)", runtime.Version(), leastVersions[0].fixes)
	}
}

// pin matches a version that a file names: of a program that Go runs or installs, or of a package that a variable sets.
var pin = regexp.MustCompile(`[\w/.-]+@v\d+\.\d+\.\d+|(?i:version)\s*[:?]?=\s*"?v?\d+\.\d+\.\d+`)

// Renovate reads go.mod, package.json and the files of containers by itself. Versions in other files are found by
// the expressions of renovate.json.
func TestRenovateFindsEveryPin(t *testing.T) {
	t.Parallel()
	var config struct {
		CustomManagers []struct{ ManagerFilePatterns, MatchStrings []string }
	}
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile("../renovate.json"))(t), &config))
	pins := 0
	for _, file := range filesWithPins(t) {
		text := string(must.Get(os.ReadFile(filepath.Join("..", file)))(t))
		var found [][]int
		for _, m := range config.CustomManagers {
			if !slices.ContainsFunc(m.ManagerFilePatterns, func(p string) bool {
				return regexp.MustCompile(strings.TrimSuffix(strings.TrimPrefix(p, "/"), "/")).MatchString(file)
			}) {
				continue
			}
			for _, expression := range m.MatchStrings {
				found = append(found, regexp.MustCompile(expression).FindAllStringIndex(text, -1)...)
			}
		}
		for _, at := range pin.FindAllStringIndex(text, -1) {
			pins++
			if !slices.ContainsFunc(found, func(f []int) bool { return f[0] < at[1] && f[1] >= at[1] }) {
				t.Errorf("%s: no expression of renovate.json finds %s", file, text[at[0]:at[1]])
			}
		}
	}
	if pins < 5 {
		t.Errorf("%d pins found in %d files: where are the others?", pins, len(filesWithPins(t)))
	}
}

// filesWithPins lists the files that build, check, install and test.
func filesWithPins(t *testing.T) []string {
	t.Helper()
	files := []string{"Makefile", ".ci/run"}
	for _, pattern := range []string{"scripts/*.sh", "deploy/*", "test/contract/*_test.go"} {
		for _, file := range must.Get(filepath.Glob("../" + pattern))(t) {
			if info := must.Get(os.Stat(file))(t); info.Mode().IsRegular() {
				files = append(files, strings.TrimPrefix(file, "../"))
			}
		}
	}
	return files
}
