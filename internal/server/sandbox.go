package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"ringback/internal/rules/kind"
	"ringback/internal/sandbox/process"
	"ringback/internal/server/config"
)

// sandbox confines the processes of jobs.
type sandbox struct {
	process.Sandbox
	// description describes the confinement in force, and warning what people should know about
	// it.
	description, warning string
}

// startSandbox finds the sandbox of the jobs' processes.
func (n *node) startSandbox(ctx context.Context) (stop func(), err error) {
	n.sandbox, err = findSandbox(ctx, n.opts.Config, n.opts.Hidden...)
	return nil, err
}

// findSandbox returns the sandbox that SANDBOX selects, as far as it is available here.
// It fails if a sandbox is required and there is none. hidden are directories that it hides, too.
func findSandbox(ctx context.Context, c config.Config, hidden ...string) (sandbox, error) {
	self, err := os.Executable()
	if err != nil {
		return sandbox{}, err
	}
	if c.Sandbox == config.SandboxOff {
		return sandbox{description: "off (SANDBOX=off)"}, nil
	}
	found, err := process.FindSandbox(ctx, sandboxOptions(c, self, hidden...))
	switch {
	case err == nil:
		description := "bubblewrap, for turns, verifiers, commands of actions and git"
		if found.OtherUser() {
			description += ", as a user of their own, since the server runs as root"
		}
		return sandbox{Sandbox: found, description: description}, nil
	case errors.Is(err, process.ErrExposed):
		return sandbox{}, err
	case c.Sandbox == config.SandboxRequired:
		return sandbox{}, fmt.Errorf("SANDBOX=require: %w", err)
	}
	reason := err.Error()
	if os.Geteuid() == 0 {
		reason += "; the server runs as root, and so do all programs that Claude runs"
	}
	return sandbox{
		description: "none: " + reason,
		warning: "Programs of jobs are not confined: " + reason +
			". SANDBOX=require refuses to start without a sandbox, SANDBOX=off accepts it.",
	}, nil
}

// sandboxOptions hide the server's own files. self is this program.
func sandboxOptions(c config.Config, self string, hidden ...string) process.SandboxOptions {
	o := process.SandboxOptions{
		Hidden: append(hidden, c.DataDir), Readable: slices.Concat([]string{self}, c.SandboxReadable),
		Path: process.Value(c.Environ, "PATH"),
	}
	if c.EnvFile == "" {
		o.Awaited = c.EnvPlace
	}
	if home, err := os.UserHomeDir(); err == nil {
		o.Home = home
	}
	for _, file := range append(slices.Clip(c.SecretFiles), c.EnvFile, c.APIKeysFile) {
		if file != "" && !slices.Contains(o.Secrets, file) {
			o.Secrets = append(o.Secrets, file)
		}
	}
	return o
}

// deniedPaths returns the paths in a kind's actions that do not belong to the server and that
// the user of the jobs may not use.
func deniedPaths(s sandbox, k *kind.Kind) (found []Finding) {
	for _, a := range k.Policy.Actions {
		denied := func(key string, paths []string, write bool) {
			for _, path := range paths {
				if why := s.Denies(path, write); why != "" {
					found = append(found, note("the kind %s: actions: %s: %s: %s", k.Name, a.Name, key, why))
				}
			}
		}
		denied("readable", a.Readable, false)
		denied("writable", a.Writable, true)
	}
	return found
}

// checkSandbox reports what would be in force, or why nothing is, and which kinds need more
// than that.
func checkSandbox(_ context.Context, s *setup) []Finding {
	switch {
	case s.err != nil:
		return []Finding{problem("%v", s.err)}
	case s.confined.InForce():
		found := []Finding{fine("sandbox: %s", s.confined.description)}
		for _, k := range s.kinds.All() {
			found = append(found, deniedPaths(s.confined, k)...)
			if tool := k.Policy.FetchesNothing(); tool != "" {
				found = append(
					found,
					note(
						"the kind %s allows %s, but in the sandbox its turns reach no host: list those that it needs under network, or set network: full",
						k.Name, tool,
					),
				)
			}
		}
		return found
	}
	found := []Finding{note("sandbox: %s", s.confined.description)}
	for _, k := range s.kinds.All() {
		if k.Policy.LimitsProcesses() {
			found = append(found, note("the kind %s limits processes, which has no effect without a sandbox", k.Name))
		}
		if k.Policy.LimitsNetwork() {
			found = append(
				found, note("the kind %s limits the hosts that it reaches (network), which has no effect without a sandbox", k.Name),
			)
		}
	}
	return found
}
