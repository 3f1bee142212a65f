package action

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/sandbox/process"
	"ringback/internal/text/lazy"
)

// CheckSetup reports what the actions of a kind are missing on this machine: programs,
// directories, and variables of the server's environment.
func CheckSetup(k *kind.Kind, environ []string) (problems []kind.Problem) {
	for _, a := range k.Policy.Actions {
		problems = append(problems, checkCommand(k, a, command{Program: a.Program, lent: a.Writable}, environ)...)
		if p := a.Preview; p != nil {
			problems = append(problems, checkCommand(k, a, command{Program: p.Program}, environ, "preview")...)
		}
	}
	return problems
}

// maxEnvironment is the maximum size in bytes of the variables that a kind sets. Together with the largest
// arguments, it leaves a quarter of a MiB of what the system gives a program for the sandbox and other variables.
const maxEnvironment = 768 << 10

// checkCommand reports what a command is missing that the front matter has at a path: an action's
// own, or that of its preview.
func checkCommand(k *kind.Kind, a *kind.Action, c command, environ []string, path ...string) (problems []kind.Problem) {
	add := func(hint, fault string, keys ...string) {
		at := slices.Concat(path, keys)
		shown := strings.Join(slices.Concat([]string{"actions", a.Name}, at), ": ")
		problems = append(problems, kind.Problem{File: k.File, Line: a.Line(at...), Message: shown + ": " + fault, Hint: hint})
	}
	if len(c.Command) > 0 {
		if fault := programFault(c.Command[0], k.Dir); fault != "" {
			add("Put it there and make it executable, or name another.", fault, "command")
		}
	}
	if _, fault := process.ArgumentFault(c.Command); fault != "" {
		add("Use a file, or the input, which the command gets on standard input.", "an argument "+fault, "command")
	}
	for i := range c.Command {
		if fault, hint := pathFault(c.Command, i, k.Dir); fault != "" {
			add(hint, fault, "command")
		}
	}
	for key, list := range map[string][]string{"readable": c.Readable, "writable": c.lent} {
		for _, file := range list {
			if _, err := os.Stat(file); err != nil {
				add("Make it, or take it out.", file+" is not there", key)
			}
		}
	}
	all := 0
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		for _, unset := range unsetIn(c.Env[name], environ) {
			add("Set it for the server, or take it out.", "${"+unset+"} is not set", "env", name)
		}
		entry := name + "=" + expand(c.Env[name], environ)
		all += len(entry) + 1
		if _, fault := process.ArgumentFault([]string{entry}); fault != "" {
			add("Use a file.", "it "+fault, "env", name)
		}
	}
	if all > maxEnvironment {
		add("Use a file.", fmt.Sprintf("the variables have %d bytes; a command gets at most %d", all, maxEnvironment), "env")
	}
	return problems
}

// interpreter matches programs that run the file in their first argument.
var interpreter = lazy.Regexp(`^(ash|bash|bun|dash|deno|fish|ksh|lua|node|perl|php|pwsh|python|ruby|sh|tclsh|zsh)[0-9.]*$`)

// pathFault returns what is wrong with an argument that is a relative path, which means a file in
// the job's directory; "" if nothing is. dir is that of the kind. A script there would be Claude's:
// nobody else puts files there.
func pathFault(command []string, i int, dir string) (fault, hint string) {
	word := command[i]
	if i == 0 || strings.Contains(word, "{{") || strings.HasPrefix(word, "-") || filepath.IsAbs(word) {
		return "", ""
	}
	const inJob = " is looked for in the job's directory"
	if strings.ContainsAny(word, "/.") && dir != "" {
		if info, err := os.Stat(filepath.Join(dir, word)); err == nil && info.Mode().IsRegular() {
			return word + inJob + ", not next to the kind's file",
				"Name it as the program, such as [" + word + "], or write its absolute path."
		}
	}
	if isScript(command, i) {
		return word + inJob + ", where only Claude could have put it",
			"Put it next to the kind's file and name it as the program, such as [./" +
				filepath.Base(word) + "], or write its absolute path."
	}
	return "", ""
}

// isScript reports whether a word of a command is the file that an interpreter runs.
func isScript(command []string, i int) bool {
	if slices.ContainsFunc(command[:i], func(w string) bool { return strings.HasPrefix(w, "-") && strings.ContainsAny(w, "cm") }) {
		return false // sh -c, python -m
	}
	before := i - 1
	for before > 0 && strings.HasPrefix(command[before], "-") {
		before--
	}
	name := filepath.Base(command[before])
	return interpreter().MatchString(name) && (before == i-1 || strings.HasSuffix(name, "sh"))
}

func programFault(name, dir string) string {
	if name == "ringback" { // this program
		return ""
	}
	file := program(name, dir, "")
	_, err := exec.LookPath(file)
	switch {
	case err == nil:
		return ""
	case !strings.Contains(name, "/"):
		return name + " is not on PATH"
	}
	if info, err := os.Stat(file); err == nil && !info.IsDir() {
		return file + " is not executable"
	}
	return cmp.Or(file, name) + " is not there"
}

// unsetIn returns the variables that a text refers to and the environment does not contain.
func unsetIn(text string, environ []string) (unset []string) {
	os.Expand(text, func(name string) string {
		if !slices.ContainsFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
			unset = append(unset, name)
		}
		return ""
	})
	return unset
}

// expand puts variables of the server's environment into a text.
func expand(text string, environ []string) string {
	return os.Expand(text, func(name string) string { return process.Value(environ, name) })
}

// InputFaults returns the fields of an input with which the command of an action, or of its preview,
// could not be started; nil if it could.
func InputFaults(a *kind.Action, input map[string]any) []job.Detail {
	commands := [][]string{a.Command}
	if a.Preview != nil {
		commands = append(commands, a.Preview.Command)
	}
	for _, command := range commands {
		i, fault := process.ArgumentFault(filled(command, input))
		if fault == "" {
			continue
		}
		at := command
		if i >= 0 {
			at = command[i : i+1]
		}
		return []job.Detail{{Path: largestField(at, input), Message: "becomes part of an argument of a command, which then " + fault}}
	}
	return nil
}

// largestField returns the JSON pointer of the field that takes the most room in arguments; one with a
// NUL character takes all of it.
func largestField(args []string, input map[string]any) (field string) {
	most := -1
	kind.Render(strings.Join(args, " "), func(name string) string {
		value := kind.Fill("{{"+name+"}}", input)
		room := len(value)
		if strings.ContainsRune(value, 0) {
			room = math.MaxInt
		}
		if room > most {
			field, most = job.Pointer(strings.Split(strings.TrimPrefix(name, "input."), ".")...), room
		}
		return ""
	})
	return field
}

// filled fills an input into the arguments of a command. Each variable stays within its own
// argument.
func filled(command []string, input map[string]any) []string {
	args := slices.Clone(command)
	for i := 1; i < len(args); i++ {
		args[i] = kind.Fill(args[i], input)
	}
	return args
}
