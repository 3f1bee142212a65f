package action

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"ringback/internal/kind"
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
	for key, list := range map[string][]string{"readable": c.Readable, "writable": c.lent} {
		for _, place := range list {
			if _, err := os.Stat(place); err != nil {
				add("Make it, or take it out.", place+" is not there", key)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		for _, unset := range unsetIn(c.Env[name], environ) {
			add("Set it for the server, or take it out.", "${"+unset+"} is not set", "env", name)
		}
	}
	return problems
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
	return file + " is not there"
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
