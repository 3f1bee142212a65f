package approval_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ringback/internal/rules/approval"
	"ringback/test/harness"
	"ringback/test/must"
)

// realBash runs commands in a real bash that can do nothing: in a sandbox without
// network and without programs. Whatever is called leaves its name in a log, the
// shell's builtins included, which are turned off.
type realBash struct{ bin, stubs, work, log string }

// programs are what is there to be called; all of them only note that they were.
var programs = []string{"ls", "lsof", "id", "rm", "sh", "cat", "git", "env", "x", "a", "echo", "printf", "test", "true"}

func startBash(t testing.TB) *realBash {
	t.Helper()
	for _, name := range []string{"bwrap", "bash"} {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is not installed: run make deps", name)
			}
			t.Skipf("%s is not installed: run make deps", name)
		}
	}
	path, _ := exec.LookPath("bash")
	bin := must.Get(filepath.EvalSymlinks(path))(t)
	dir := t.TempDir()
	b := &realBash{bin: bin, stubs: filepath.Join(dir, "stubs"), work: filepath.Join(dir, "work"), log: filepath.Join(dir, "log")}
	const stub = "#!/shell/bash -p\nprintf '%s\\n' \"$0\" >> /log/ran\nexit $((RANDOM % 2))\n"
	for _, place := range []string{b.stubs, b.work, filepath.Join(b.work, "evil"), b.log} {
		must.OK(t, os.MkdirAll(place, 0o700))
		if place == b.log {
			continue
		}
		for _, name := range programs {
			harness.WriteProgram(t, filepath.Join(place, name), []byte(stub))
		}
	}
	// Without a builtin, a redirection is what is left to leave a trace by.
	const before = "command_not_found_handle() { > \"/log/unknown ${1//\\//_}\"; }\nenable -n $(compgen -b)\n"
	must.OK(t, os.WriteFile(filepath.Join(b.stubs, ".before"), []byte(before), 0o600))
	return b
}

// run runs a command, and returns what was called, and which files were made.
func (b *realBash) run(t testing.TB, command string) (called, made []string) {
	t.Helper()
	clearDir(t, b.log)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	args := []string{
		"--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--setenv", "PATH", "/stubs", "--setenv", "BASH_ENV", "/stubs/.before",
		"--setenv", "LC_ALL", "C.UTF-8", "--ro-bind", "/usr/lib", "/usr/lib", "--symlink", "usr/lib", "/lib", "--ro-bind-try", "/lib64", "/lib64",
		"--ro-bind", b.bin, "/shell/bash", "--ro-bind", b.stubs, "/stubs", "--ro-bind", b.stubs, "/bin", "--ro-bind", b.stubs, "/usr/bin",
		"--bind", b.work, "/work", "--bind", b.log, "/log", "--dev", "/dev", "--chdir", "/work", "/shell/bash", "-c", command,
	}
	cmd := exec.CommandContext(ctx, "bwrap", args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() == 1 && strings.HasPrefix(string(out), "bwrap:")) {
		t.Fatalf("%v: %s", err, out)
	}
	if text, err := os.ReadFile(filepath.Join(b.log, "ran")); err == nil {
		called = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	unknown := must.Get(filepath.Glob(filepath.Join(b.log, "unknown*")))(t)
	for _, file := range unknown {
		called = append(called, filepath.Base(file))
	}
	entries := must.Get(os.ReadDir(b.work))(t)
	for _, e := range entries {
		if e.Name() != "evil" && !slices.Contains(programs, e.Name()) {
			made = append(made, e.Name())
			_ = os.RemoveAll(filepath.Join(b.work, e.Name()))
		}
	}
	return called, made
}

func clearDir(t testing.TB, dir string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		must.OK(t, os.Remove(filepath.Join(dir, e.Name())))
	}
}

// bashRules are rules, and what may be called where they allow a command.
var bashRules = []struct {
	rule string
	may  *regexp.Regexp
}{
	{"Bash(ls *)", regexp.MustCompile(`^/stubs/ls$`)},
	{"Bash(./ls *)", regexp.MustCompile(`^\./ls$`)},
	{"Bash(ls)", regexp.MustCompile(`^/stubs/ls$`)},
	{"Bash(ls*)", regexp.MustCompile(`^(/stubs/|unknown )ls[^/]*$`)},
	{"Bash(/bin/ls -a *)", regexp.MustCompile(`^/bin/ls$`)},
}

// tokens are what commands are made of.
var tokens = strings.Split("ls¦./ls¦/bin/ls¦lsof¦evil/ls¦id¦rm¦sh¦x¦a¦-a¦-c¦ ¦  ¦\t¦\n¦;¦&¦&&¦|¦||¦(¦)¦{¦}¦[¦]¦[[¦]]¦((¦))¦!¦$¦$(¦${¦$((¦`¦'¦\"¦\\¦\\\n¦$'¦$\"¦#¦<¦>¦<<¦<<<¦<(¦>(¦2>&1¦>/dev/null¦"+
	"=¦PATH=.¦x=1¦a[¦+=¦~¦*¦?¦if¦then¦elif¦else¦fi¦while¦until¦do¦done¦for¦in¦case¦esac¦;;¦;&¦function¦coproc¦time¦-p¦select¦let¦export¦declare¦eval¦exec¦command¦.¦trap¦alias¦hash¦"+
	"{a,b}¦,¦..¦@(¦:¦:-¦:=¦@P¦\x00¦\r¦\v¦\u00a0¦\u200b¦\\x72¦EOF¦<<EOF\n¦<<-EOF¦<<'EOF'¦%¦^¦+¦0¦1¦&>¦>&¦<>¦>|¦\\\\¦\\'¦-", "¦")

// commandOf makes a command of what the fuzzer has chosen.
func commandOf(choice []byte) string {
	var command strings.Builder
	for _, c := range choice {
		if int(c) < len(tokens) {
			command.WriteString(tokens[c])
		} else {
			command.WriteByte(c - 128)
		}
	}
	return command.String()
}

// choiceOf is how a fuzzer chooses a command.
func choiceOf(words ...string) (choice []byte) {
	for _, word := range words {
		if at := slices.Index(tokens, word); at >= 0 {
			choice = append(choice, byte(at))
			continue
		}
		for _, c := range []byte(word) {
			choice = append(choice, c+128)
		}
	}
	return choice
}

// If a rule allows a command, a real bash runs nothing by it but what the rule names.
func FuzzAllowedCommandsRunNothingElse(f *testing.F) {
	for rule := range bashRules {
		for _, words := range [][]string{
			{"ls", " ", "-a"},
			{"./ls", " ", "a", ";", "./ls"},
			{"/bin/ls", " ", "-a", " ", "x"},
			{"if", " ", "ls", ";", "then", " ", "ls", "\n", "fi"},
			{"case", " ", "a", " ", "in", " ", "a", ")", "ls", ";;", "esac"},
			{"while", " ", "!", " ", "ls", ";", "do", " ", "ls", ";", "done"},
			{"ls", " ", "'", "$(", "id", ")", "'"},
			{"ls", " ", "\"", "\\", "`", "\""},
			{"{", " ", "ls", ";", "}", " ", ">/dev/null"},
			{"(", "ls", ")", " ", "&", " ", "ls", " ", "2>&1"},
			{"ls", " ", "#", "\n", "ls"},
			{"time", " ", "-p", " ", "ls"},
			{"ls", "\\\n", " ", "<<<", "a"},
			{"ls", " ", "<", "a"},
			{"ls", " ", "$(", "id", ")"},
			{"PATH=.", " ", "ls"},
		} {
			f.Add(uint8(rule), choiceOf(words...))
		}
	}
	bash := startBash(f)
	f.Fuzz(func(t *testing.T, which uint8, choice []byte) {
		rule := bashRules[int(which)%len(bashRules)]
		command := commandOf(choice)
		verdict, _ := verdictOf(approval.ToolRules{Allow: []string{rule.rule}}, callOf(t, "Bash: "+command))
		if verdict != approval.Allow {
			return
		}
		called, made := bash.run(t, command)
		called = slices.DeleteFunc(called, rule.may.MatchString)
		if len(called)+len(made) > 0 {
			t.Errorf("%s allows %q, which calls %q and makes %q", rule.rule, command, called, made)
		}
	})
}

// The oracle itself sees what is called.
func TestARealBashShowsWhatACommandCalls(t *testing.T) {
	t.Parallel()
	bash := startBash(t)
	for command, want := range map[string]string{
		"ls -la":                "/stubs/ls",
		"./ls":                  "./ls",
		"PATH=.; ls":            "./ls",
		"ls $(id >&2)":          "/stubs/id",
		"/bin/rm -rf /":         "/bin/rm",
		"evil/ls":               "evil/ls",
		"export x":              "unknown export",
		"eval ls":               "unknown eval",
		"let 'a[$(id)]'":        "unknown let",
		"((a[$(id >&2)]))":      "/stubs/id",
		"[[ -v a[$(id >&2)] ]]": "/stubs/id",
	} {
		var called []string
		for try := 0; try < 10 && !slices.Contains(called, want); try++ { // a busy machine may take longer than a command may
			called, _ = bash.run(t, command)
		}
		if !slices.Contains(called, want) {
			t.Errorf("%s: found %q, want %q", command, called, want)
		}
	}
	if _, made := bash.run(t, "ls > made"); !slices.Equal(made, []string{"made"}) {
		t.Errorf("found %q to be made", made)
	}
}
