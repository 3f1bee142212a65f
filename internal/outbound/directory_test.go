package outbound_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringback/internal/outbound"
	"ringback/test/must"
)

// A repository that is kept in several places may be named if all of them may; otherwise the fault names
// the one that may not.
func TestAllPlacesOfARepositoryMustBeAllowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// make makes the repository "named" of the one in main.
		make string
		// elsewhere is what the fault names if only the repository itself may be named; empty if there is none.
		elsewhere string
	}{
		"a clone":                          {"git clone -q main named", ""},
		"a bare clone":                     {"git clone -q --bare main named", ""},
		"a bare clone, without its ending": {"git clone -q --bare main named.git", ""},
		"a linked worktree":                {"git -C main worktree add -q ../named", "main/.git/worktrees/named"},
		"a worktree of a bare repository":  {"git clone -q --bare main bare.git && git -C bare.git worktree add -q ../named", "bare.git/worktrees/named"},
		"a worktree by a relative path":    {"git -C main worktree add -q ../named && echo 'gitdir: ../main/.git/worktrees/named' >named/.git", "main/.git/worktrees/named"},
		"a shared clone":                   {"git clone -q --shared main named", "main/.git/objects"},
		"a shared clone of a shared clone": {"git clone -q --shared main middle && git clone -q --shared middle named && rm -r main/.git/refs", "middle/.git/objects"},
		"a clone by reference":             {"git clone -q --reference main main named", "main/.git/objects"},
		"a quoted alternate":               {`git clone -q main named && echo "\"$PWD/main/.git/objects\"" >named/.git/objects/info/alternates`, "main/.git/objects"},
		"a git directory elsewhere":        {"git clone -q --separate-git-dir elsewhere main named", "elsewhere"},
		"a link for .git":                  {"mkdir named && ln -s ../main/.git named/.git", "main/.git"},
		"a working directory of links":     {"git clone -q main named && rm -r named/.git/refs && ln -s ../../main/.git/refs named/.git/refs", "main/.git/refs"},
		"a submodule":                      {"git init -q outer && git -C outer -c protocol.file.allow=always submodule --quiet add ../main sub && ln -s outer/sub named", "outer/.git/modules/sub"},
		"alternates in a circle":           {"git clone -q --shared main named && echo \"$PWD/named/.git/objects\" >main/.git/objects/info/alternates", "main/.git/objects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := made(t, c.make)
			named := filepath.Join(top, "named")
			must.Equal(t, "", outbound.Policy{Paths: []string{top}}.Fault(named, false))
			must.Equal(t, "", outbound.Policy{Open: true, Data: filepath.Join(top, "data")}.Fault(named, false))
			fault := outbound.Policy{Paths: []string{named, named + ".git", filepath.Join(top, "outer", "sub")}}.Fault(named, false)
			if c.elsewhere == "" {
				must.Equal(t, "", fault)
				return
			}
			must.Contain(t, fault, "a part of it is "+filepath.Join(top, c.elsewhere)+"; ")
			fault = outbound.Policy{Open: true, Data: filepath.Join(top, strings.Split(c.elsewhere, "/")[0])}.Fault(named, false)
			must.Contain(t, fault, "the server's own data")
		})
	}
}

// What is no file is not waited for.
func TestAPipeInARepositoryHoldsNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, syscall.Mkfifo(filepath.Join(dir, ".git"), 0o600))
	must.Equal(t, "", outbound.Policy{Paths: []string{dir}}.Fault(dir, false))
}

// made runs a script beside the repository "main", and returns their directory.
func made(t *testing.T, script string) (top string) {
	t.Helper()
	top = must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	cmd := exec.Command("sh", "-ec", "git init -q main; git -C main -c user.name=x -c user.email=x@y commit -q --allow-empty -m x; "+script)
	cmd.Dir, cmd.Env = top, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return top
}
