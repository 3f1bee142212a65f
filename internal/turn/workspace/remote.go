package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/outbound"
	"ringback/internal/sandbox/door"
	"ringback/internal/sandbox/process"
)

// connect returns a git for the remote of a repository, which works in dir, and the address to pass
// to it. The address contains no password, because other users can read arguments.
//
// A repository from the kind is the operator's: git has the operator's settings and logins. A
// repository from a request is not trusted.
func (root Root) connect(r job.Repository, dir string) (g git, address string, err error) {
	if !r.FromRequest {
		g, address = withPassword(remote(root.Environ, dir), r.URL)
		return g, address, nil
	}
	if fault := root.Requests.Fault(r.URL, r.Logins); fault != "" {
		return git{}, "", errors.New("url: " + fault)
	}
	named, err := outbound.ParseRepository(r.URL)
	if err != nil {
		return git{}, "", err
	}
	if named.Transport == outbound.Path {
		return root.ofPath(dir, named.Path), r.URL, nil
	}
	if root.mayLogIn(r) && named.Transport != outbound.HTTP {
		logins := process.Remotes
		if named.Transport == outbound.SSH {
			logins = sshLogins
		}
		g = git{
			dir: dir, remote: true,
			env: slices.Concat(process.Pick(root.Environ, process.Basics, process.Person, process.Certificates, logins), baseEnv),
		}
	} else {
		g = root.withoutLogins(dir)
	}
	g.flags = guardedFlags
	if root.Requests.Private && !g.sandbox.InForce() {
		g.env = slices.Concat(g.env, process.Pick(root.Environ, process.Proxies))
		return g, r.URL, nil
	}
	g.guarded, g.proxy = &named, &outbound.Proxy{Hosts: outbound.Only(named.Address())}
	if root.Requests.Private { // in the sandbox, which has no other way out
		g.proxy.Via = outbound.ViaOf(root.Environ)
		g.proxy.Hosts, err = outbound.Trusted([]string{named.Address()})
	}
	return g, r.URL, err
}

// mayLogIn reports whether the server's logins may be used for a repository: for a repository from
// the kind, a request with Logins, or a server whose only user is the person at this machine.
func (root Root) mayLogIn(r job.Repository) bool {
	return !r.FromRequest || r.Logins || root.Requests.Open
}

// sshLogins are the process.Remotes that are of use to ssh.
var sshLogins = process.Variables{"SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND"}

// guardedFlags prevent git from following its remote to any other address.
var guardedFlags = []string{
	"-c", "http.followRedirects=false", "-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false", "-c",
	"push.recurseSubmodules=no",
	"-c", "transfer.bundleURI=false",
}

// ofPath returns a git that can reach only another directory of this machine. It reads the user's
// git settings, such as safe.directory.
func (root Root) ofPath(dir, path string) git {
	return git{
		dir: dir, remote: true, path: true, sandbox: root.Sandbox,
		access: process.Access{
			Writable: []string{dir}, AsServer: true,
			Readable: existing(slices.Concat(settingsIn(root.Environ), []string{path}, outbound.Directories(path))...),
		},
		env: slices.Concat(process.Pick(root.Environ, process.Basics, process.Person), baseEnv, []string{"GIT_ALLOW_PROTOCOL=file"}),
	}
}

func settingsIn(environ []string) []string {
	home := process.Value(environ, "HOME")
	config := cmp.Or(process.Value(environ, "XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	return []string{filepath.Join(home, ".gitconfig"), filepath.Join(config, "git")}
}

// withoutLogins returns a git without any user's settings and logins: no home, no helpers, no
// agent, no Kerberos ticket.
func (root Root) withoutLogins(dir string) git {
	return git{dir: dir, remote: true, sandbox: root.Sandbox, access: process.Access{
		Writable: []string{dir},
	}, env: slices.Concat(process.Pick(root.Environ, process.Basics, process.Certificates), baseEnv, []string{
		"HOME=/nonexistent", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=http:https",
		"KRB5CCNAME=/nonexistent",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=", "GIT_CONFIG_KEY_1=http.emptyAuth",
		"GIT_CONFIG_VALUE_1=false",
	})}
}

// withPassword removes the password from an address and passes it to git by a credential helper:
// any user can read the arguments of a process, including those of git's own helpers.
func withPassword(g git, address string) (git, string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User == nil {
		return g, address
	}
	password, has := u.User.Password()
	if !has || u.Scheme != "https" && u.Scheme != "http" {
		return g, address
	}
	g = g.with("RINGBACK_GIT_USERNAME="+u.User.Username(), "RINGBACK_GIT_PASSWORD="+password)
	u.User = nil
	const helper = `!f() { test "$1" != get || printf 'username=%s\npassword=%s\n' "$RINGBACK_GIT_USERNAME" "$RINGBACK_GIT_PASSWORD"; }; f`
	g.flags = []string{"-c", "credential.helper=", "-c", "credential." + u.Scheme + "://" + u.Host + ".helper=" + helper}
	return g, u.String()
}

// guard restricts git to its remote: with a proxy for https, and with a checked address for ssh.
// done receives git's error, and replaces it if the guard knows the reason.
func (g git) guard(ctx context.Context) (_ git, done func(error) error, err error) {
	done = func(err error) error { return err }
	switch {
	case g.guarded == nil:
		return g, done, nil
	case g.guarded.Transport == outbound.SSH:
		g, err = g.pinned(ctx)
		return g, done, err
	}
	end := func() {}
	if g.sandbox.InForce() {
		var address string
		g.access.Network, address = door.Guarded(g.proxy)
		g.flags = slices.Concat(g.flags, []string{"-c", "http.proxy=" + address})
	} else {
		l, err := g.proxy.Listen(ctx)
		if err != nil {
			return g, done, err
		}
		end = func() { _ = l.Close() }
		g.flags = slices.Concat(g.flags, []string{"-c", "http.proxy=http://" + l.Addr().String()})
	}
	return g, func(err error) error {
		end()
		if refusal := g.proxy.Refused(); err != nil && refusal != nil {
			return notReached(g.guarded.Host, refusal)
		}
		return err
	}, nil
}

// notReached describes why a host was not reached. It omits the resolved address, because the
// caller may be probing a network.
func notReached(host string, err error) error {
	switch {
	case errors.Is(err, outbound.ErrForbidden):
		return fmt.Errorf("%w: %s is not public (REPOSITORY_PRIVATE=true allows it)", outbound.ErrForbidden, host)
	case isUnknown(err):
		return fmt.Errorf("the host %s is not known", host)
	}
	return fmt.Errorf("the host %s cannot be reached", host)
}

func isUnknown(err error) bool {
	failed, ok := errors.AsType[*net.DNSError](err)
	return ok && failed.IsNotFound
}

// pinned makes ssh connect to a checked address, whatever the name resolves to later. The ssh
// configuration, which is the operator's, resolves host aliases.
func (g git) pinned(ctx context.Context) (git, error) {
	ssh := g.sshCommand(ctx)
	host, port, err := g.sshTarget(ctx, ssh)
	if err != nil {
		return g, err
	}
	ip, err := outbound.Resolve(ctx, host)
	if err != nil {
		return g, notReached(g.guarded.Host, err)
	}
	known := host
	if port != "22" {
		known = "[" + host + "]:" + port
	}
	return g.with("GIT_SSH_VARIANT=ssh", "GIT_SSH_COMMAND="+ssh+" -o HostName="+ip.String()+" -o HostKeyAlias="+known), nil
}

// sshCommand returns the ssh command line that git would run.
func (g git) sshCommand(ctx context.Context) string {
	if command := process.Value(g.env, "GIT_SSH_COMMAND"); command != "" {
		return command
	}
	plain := g
	plain.guarded = nil
	if command, err := plain.run(ctx, "config", "--get", "core.sshCommand"); err == nil && command != "" {
		return command
	}
	return "ssh"
}

// sshTarget asks ssh for the host and port that it would connect to.
func (g git) sshTarget(ctx context.Context, ssh string) (host, port string, err error) {
	args := " -G"
	if g.guarded.Port != 22 {
		args += fmt.Sprintf(" -p %d", g.guarded.Port)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", ssh+args+` "$1"`, "ssh", g.guarded.Host)
	cmd.Dir, cmd.Env = g.dir, g.env
	settings, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("asking ssh for the host of %s: %w", g.guarded.Host, err)
	}
	for line := range strings.Lines(string(settings)) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name {
		case "hostname":
			host = value
		case "port":
			port = value
		}
	}
	if host == "" || port == "" {
		return "", "", errors.New("ssh does not report which host it would connect to")
	}
	return host, port, nil
}
