// Package door provides the network access of a sandbox: the callbacks of its own job, the
// model's API, and the hosts that its kind lists. Each sandbox has its own doors, so a door
// identifies its caller.
package door

import (
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/outbound"
	"ringback/internal/sandbox/process"
)

// Ports of 127.0.0.1 in a sandbox. Programs there cannot listen below 1024, so none can
// impersonate the server while it restarts.
const (
	callbackPort = 301
	proxyPort    = 302
	modelPort    = 303
)

// ModelURL is the URL of the model's API for a sandboxed turn if the server forwards its
// requests.
const ModelURL = "http://127.0.0.1:303"

// CallbackURL is the base URL of callbacks for a sandboxed turn.
const CallbackURL = "http://127.0.0.1:301"

const proxyURL = "http://127.0.0.1:302"

// Doors creates the doors of one server. The zero Doors allow no network access.
type Doors struct {
	// CallbackFunc serves the callbacks of one job until the listener is closed.
	CallbackFunc func(l net.Listener, id job.ID)
	// TunnelFunc returns a listener that limits and counts the connections at any other door; may be
	// nil.
	TunnelFunc func(net.Listener) net.Listener
	// Environ is the server's environment, which may contain the operator's proxies.
	Environ []string
	// Log logs refused hosts; may be nil.
	Log *slog.Logger
}

// Model describes how to reach the model's API.
type Model struct {
	// Hosts are reached through the proxy.
	Hosts []string
	// Local are addresses of this machine, each reached at its own port.
	Local []string
	// ServeFunc, if set, forwards requests to the API until the listener is closed; then
	// the turn needs neither Hosts nor Local.
	ServeFunc func(net.Listener)
}

// Way is the network access of one sandbox.
type Way struct {
	process.Network
	// Proxy forwards to the allowed hosts.
	Proxy *outbound.Proxy
}

// OfTurn returns the network access of one of Claude's turns.
func (d Doors) OfTurn(id job.ID, network job.Network, model Model) Way {
	w := d.way(string(id), trusted(model.Hosts).And(hostsOf(network)), hintOf("the job's kind"))
	w.Doors = append(w.Doors, process.Door{Port: callbackPort, Serve: func(l net.Listener) { d.CallbackFunc(l, id) }})
	if model.ServeFunc != nil {
		w.Doors = append(w.Doors, d.tunnel(modelPort, model.ServeFunc))
	}
	for _, address := range model.Local {
		if port, ok := local(address); ok {
			w.Doors = append(w.Doors, d.tunnel(port, outbound.Forward(address)))
		}
	}
	return w
}

// trusted returns the hosts of the operator's own configuration.
func trusted(list []string) (all outbound.Hosts) {
	for _, host := range list {
		if hosts, err := outbound.Trusted([]string{host}); err == nil { // else it cannot be called
			all = all.And(hosts)
		}
	}
	return all
}

// local returns the port of an address of this machine, if there can be a door to it.
func local(address string) (port uint16, ok bool) {
	to, err := net.ResolveTCPAddr("tcp", address)
	if err != nil || to.Port == 0 || slices.Contains([]int{callbackPort, proxyPort, modelPort}, to.Port) {
		return 0, false
	}
	return to.AddrPort().Port(), true
}

// tunnel returns a door that leads elsewhere than to callbacks.
func (d Doors) tunnel(port uint16, serve func(net.Listener)) process.Door {
	return process.Door{Port: port, Serve: func(l net.Listener) {
		if d.TunnelFunc != nil {
			l = d.TunnelFunc(l)
		}
		serve(l)
	}}
}

// registries are the package registries that verifiers may use by default.
var registries = job.Network{
	"registry.npmjs.org", "registry.yarnpkg.com", "nodejs.org", "pypi.org", "files.pythonhosted.org", "proxy.golang.org",
	"sum.golang.org", "dl.google.com",
	"index.crates.io", "static.crates.io", "crates.io", "static.rust-lang.org", "rubygems.org", "index.rubygems.org",
	"repo.maven.apache.org", "repo1.maven.org",
	"plugins.gradle.org", "services.gradle.org", "api.nuget.org", "repo.packagist.org", "hex.pm", "repo.hex.pm",
}

// OfVerifier returns the network access of a verifier: by default, the public package
// registries and the one that the operator has configured.
func (d Doors) OfVerifier(id string, network job.Network) Way {
	hosts := hostsOf(network)
	if len(network) == 0 {
		hosts = hostsOf(registries).And(trusted(outbound.ListedIn(d.Environ, "GOPROXY")))
	}
	return d.way(id, hosts, hintOf("the job's kind"))
}

// OfAction returns the network access of an action's command.
func (d Doors) OfAction(id job.ID, action string, network job.Network) Way {
	return d.way(string(id), hostsOf(network), hintOf("the action "+action))
}

func hintOf(owner string) string {
	return fmt.Sprintf(`The list of hosts under "network" of %s does not name it.`, owner)
}

func (d Doors) way(id string, hosts outbound.Hosts, hint string) Way {
	p := &outbound.Proxy{Hosts: hosts, Hint: hint, Via: outbound.ViaOf(d.Environ), RefusedFunc: func(host string, err error) {
		if d.Log != nil {
			d.Log.Warn("network access refused", "requestId", id, "host", host, "error", err, "hint", hint)
		}
	}}
	return Way{
		process.Network{
			Doors: []process.Door{d.tunnel(proxyPort, p.Serve)},
			Env:   outbound.ProxyEnv("127.0.0.1", strconv.Itoa(proxyPort)),
		},
		p,
	}
}

// Refused returns a message with the hosts that were refused; "" for none.
func (w Way) Refused() string {
	hosts := w.Proxy.RefusedHosts()
	if len(hosts) == 0 {
		return ""
	}
	return fmt.Sprintf("Not reached: %s. %s", strings.Join(hosts, ", "), w.Proxy.Hint)
}

// hostsOf returns the hosts of a network. Errors in a list were reported when its kind was
// loaded.
func hostsOf(n job.Network) outbound.Hosts {
	switch {
	case n.IsFull():
		return outbound.Public()
	case n.IsNone():
		return outbound.Hosts{}
	}
	hosts, err := outbound.Named(n)
	if err != nil {
		return outbound.Hosts{}
	}
	return hosts
}

// Guarded returns the network access of sandboxed git to a single untrusted host.
func Guarded(p *outbound.Proxy) (network process.Network, proxy string) {
	return process.Network{Doors: []process.Door{{Port: proxyPort, Serve: p.Serve}}}, proxyURL
}
