package process

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ringback/test/generated"
	"ringback/test/must"
)

//go:generate go test -vet=off . -run TestTheFilterOfContainersIsUpToDate -update

// callsOfSetup are refused in a sandbox, and needed to set one up: by bubblewrap, by listenIn and by makePrivate. Without
// any of them, no server starts in a container.
var callsOfSetup = []string{"clone", "mount", "pivot_root", "setns", "umount2", "unshare"}

// containerRule is a rule of a container engine's filter, as Docker, Podman and the kubelet read it.
type containerRule struct {
	Comment string         `json:"comment"`
	Names   []string       `json:"names"`
	Action  string         `json:"action"`
	Errno   uint           `json:"errnoRet,omitempty"`
	Args    []containerArg `json:"args,omitempty"`
}

type containerArg struct {
	Index uint32 `json:"index"`
	Value uint32 `json:"value"`
	Op    string `json:"op"`
}

const allowed, refused = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"

// A container in which sandboxes are set up refuses what these refuse, except for what it takes to set one up. That is
// about what the engines' default filters refuse.
func TestTheFilterOfContainersIsUpToDate(t *testing.T) {
	t.Parallel()
	numbers := systemCalls(t, "amd64")
	names := map[uint32]string{}
	for name, number := range numbers {
		names[number] = name
	}
	known := slices.Concat(slices.Collect(maps.Keys(numbers)), slices.Collect(maps.Keys(systemCalls(t, "arm64"))))
	restricted := map[string]bool{} // by an argument, or wholly
	namesOf := func(how refusal) (list []string) {
		for _, call := range refusedCalls[how] {
			if name := names[call]; !slices.Contains(callsOfSetup, name) {
				list, restricted[name] = append(list, name), true
			}
		}
		slices.Sort(list)
		return list
	}
	rules := []containerRule{
		{"Refused, as by a kernel that does not have them: programs use others instead", namesOf(missing), refused, uint(unix.ENOSYS), nil},
		{"Refused: other processes, the kernel and the machine", namesOf(forbidden), refused, uint(unix.EPERM), nil},
	}
	for _, r := range argumentRules {
		if name := names[r.call]; r.only {
			restricted[name] = true
			for _, value := range r.values {
				rules = append(rules, containerRule{"Allowed with this argument only", []string{name}, allowed, 0, []containerArg{{r.argument, value, "SCMP_CMP_EQ"}}})
			}
		}
	}
	rest := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(known))), func(name string) bool {
		return restricted[name] || slices.Contains(callsOfSetup, name)
	})
	rules = slices.Concat([]containerRule{
		{"Allowed, because a sandbox for jobs is set up with them. Docker's default filter refuses these", callsOfSetup, allowed, 0, nil},
	}, rules, []containerRule{{"Allowed: all others up to " + names[latestCall], rest, allowed, 0, nil}})
	generated.File(t, "../../../deploy/seccomp.json", containerFilter(t, rules))
}

// containerFilter returns the file of a filter, with a line for each rule.
func containerFilter(t *testing.T, rules []containerRule) string {
	t.Helper()
	var lines []string
	for _, r := range rules {
		lines = append(lines, "    "+string(must.Get(json.Marshal(r))(t)))
	}
	return `{
  "defaultAction": "SCMP_ACT_ERRNO",
  "defaultErrnoRet": 1,
  "archMap": [
    {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []},
    {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []}
  ],
  "syscalls": [
` + strings.Join(lines, ",\n") + "\n  ]\n}\n"
}

// systemCalls returns the system calls of an architecture, up to the latest that was reviewed.
func systemCalls(t *testing.T, arch string) map[string]uint32 {
	t.Helper()
	dir := must.Get(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output())(t)
	file := filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+arch+".go")
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))(t)
	calls := map[string]uint32{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		number := must.Get(strconv.ParseUint(spec.Values[0].(*ast.BasicLit).Value, 10, 32))(t)
		if number <= latestCall {
			calls[strings.ToLower(strings.TrimPrefix(spec.Names[0].Name, "SYS_"))] = uint32(number)
		}
		return true
	})
	return calls
}
