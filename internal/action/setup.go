package action

import (
	"fmt"
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
		add := func(path []string, hint, format string, args ...any) {
			problems = append(problems, kind.Problem{
				File: k.File, Line: a.Line(path...), Message: "actions: " + a.Name + ": " + fmt.Sprintf(format, args...), Hint: hint,
			})
		}
		if len(a.Command) > 0 {
			if fault := programFault(a.Command[0], k.Dir); fault != "" {
				add([]string{"command"}, "Put it there and make it executable, or name another.", "command: %s", fault)
			}
		}
		if p := a.Preview; p != nil {
			checkPreview(p, k.Dir, environ, add)
		}
		for key, places := range map[string][]string{"readable": a.Readable, "writable": a.Writable} {
			for _, place := range places {
				if _, err := os.Stat(place); err != nil {
					add([]string{key}, "Make it, or take it out.", "%s: %s is not there", key, place)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(a.Env)) {
			for _, unset := range unsetIn(a.Env[name], environ) {
				add([]string{"env", name}, "Set it for the server, or take it out.", "env: %s: ${%s} is not set", name, unset)
			}
		}
	}
	return problems
}

// checkPreview reports what the preview of an action is missing.
func checkPreview(p *kind.Preview, dir string, environ []string, add func(path []string, hint, format string, args ...any)) {
	if len(p.Command) > 0 {
		if fault := programFault(p.Command[0], dir); fault != "" {
			add([]string{"preview", "command"}, "Put it there and make it executable, or name another.", "preview: command: %s", fault)
		}
	}
	for _, place := range p.Readable {
		if _, err := os.Stat(place); err != nil {
			add([]string{"preview", "readable"}, "Make it, or take it out.", "preview: readable: %s is not there", place)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		for _, unset := range unsetIn(p.Env[name], environ) {
			add([]string{"preview", "env", name}, "Set it for the server, or take it out.", "preview: env: %s: ${%s} is not set", name, unset)
		}
	}
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
