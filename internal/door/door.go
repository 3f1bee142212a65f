// Package door opens the ways out of a sandbox: the callbacks of its own job, the model's
// API, and the hosts that its kind names. What a door knows about its caller, it knows by
// being that caller's: each sandbox has doors of its own.
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
	"ringback/internal/process"
)

// Ports of 127.0.0.1 in a sandbox. No program there may listen at one below 1024, so none
// poses as the server while that restarts.
const (
	callbackPort = 301
	proxyPort    = 302
	modelPort    = 303
)

// ModelURL is where a turn in a sandbox calls the model's API if the server passes its
// requests on.
const ModelURL = "http://127.0.0.1:303"

// CallbackURL is where a turn in a sandbox calls back.
const CallbackURL = "http://127.0.0.1:301"

// proxyURL is where programs in a sandbox find the proxy.
const proxyURL = "http://127.0.0.1:302"

// Doors opens those of one server. The zero Doors lead nowhere.
type Doors struct {
	// CallbackFunc serves the callbacks of one job until the listener is closed.
	CallbackFunc func(l net.Listener, id job.ID)
	// Environ is the server's, which may name proxies of the operator's.
	Environ []string
	// Log is told what was refused; may be nil.
	Log *slog.Logger
}

// Model is where the model's API is.
type Model struct {
	// Hosts are reached through the proxy.
	Hosts []string
	// Local are addresses of this machine, each reached at its own port.
	Local []string
	// ServeFunc, if set, passes requests on to the API until the listener is closed; then
	// the turn needs neither Hosts nor Local.
	ServeFunc func(net.Listener)
}

// Way is the way out of one sandbox.
type Way struct {
	process.Network
	// Proxy leads to the hosts that may be reached.
	Proxy *outbound.Proxy
}

// OfTurn is the way out of a turn of Claude's.
func (d Doors) OfTurn(id job.ID, network job.Network, model Model) Way {
	w := d.way(string(id), trusted(model.Hosts).And(hostsOf(network)), hintOf("the job's kind"))
	w.Doors = append(w.Doors, process.Door{Port: callbackPort, Serve: func(l net.Listener) { d.CallbackFunc(l, id) }})
	if model.ServeFunc != nil {
		w.Doors = append(w.Doors, process.Door{Port: modelPort, Serve: model.ServeFunc})
	}
	for _, address := range model.Local {
		if door, ok := local(address); ok {
			w.Doors = append(w.Doors, door)
		}
	}
	return w
}

// trusted are hosts of the operator's own configuration.
func trusted(list []string) (all outbound.Hosts) {
	for _, host := range list {
		if hosts, err := outbound.Trusted([]string{host}); err == nil { // else nothing can call it
			all = all.And(hosts)
		}
	}
	return all
}

// local is a door to an address of this machine.
func local(address string) (process.Door, bool) {
	to, err := net.ResolveTCPAddr("tcp", address)
	if err != nil || to.Port == 0 || slices.Contains([]int{callbackPort, proxyPort, modelPort}, to.Port) {
		return process.Door{}, false
	}
	return process.Door{Port: uint16(to.Port), Serve: outbound.Forward(address)}, true //nolint:gosec // a port
}

// registries are where verifiers fetch packages from if their kind does not say.
var registries = job.Network{
	"registry.npmjs.org", "registry.yarnpkg.com", "nodejs.org", "pypi.org", "files.pythonhosted.org", "proxy.golang.org", "sum.golang.org", "dl.google.com",
	"index.crates.io", "static.crates.io", "crates.io", "static.rust-lang.org", "rubygems.org", "index.rubygems.org", "repo.maven.apache.org", "repo1.maven.org",
	"plugins.gradle.org", "services.gradle.org", "api.nuget.org", "repo.packagist.org", "hex.pm", "repo.hex.pm",
}

// OfVerifier is the way out of a verifier: to public registries of packages, and to the one
// that the operator has set up, if the kind does not say otherwise.
func (d Doors) OfVerifier(id string, network job.Network) Way {
	hosts := hostsOf(network)
	if len(network) == 0 {
		hosts = hostsOf(registries).And(trusted(outbound.ListedIn(d.Environ, "GOPROXY")))
	}
	return d.way(id, hosts, hintOf("the job's kind"))
}

// OfAction is the way out of the command of an action.
func (d Doors) OfAction(id job.ID, action string, network job.Network) Way {
	return d.way(string(id), hostsOf(network), hintOf("the action "+action))
}

// hintOf says which key lets a host in.
func hintOf(owner string) string {
	return fmt.Sprintf(`The list of hosts under "network" of %s does not name it.`, owner)
}

func (d Doors) way(id string, hosts outbound.Hosts, hint string) Way {
	p := &outbound.Proxy{Hosts: hosts, Hint: hint, Via: outbound.ViaOf(d.Environ), RefusedFunc: func(host string, err error) {
		if d.Log != nil {
			d.Log.Warn("network access refused", "requestId", id, "host", host, "error", err, "hint", hint)
		}
	}}
	return Way{process.Network{Doors: []process.Door{{Port: proxyPort, Serve: p.Serve}}, Env: outbound.ProxyEnv("127.0.0.1", strconv.Itoa(proxyPort))}, p}
}

// Refused says which hosts were called and refused; "" for none.
func (w Way) Refused() string {
	hosts := w.Proxy.RefusedHosts()
	if len(hosts) == 0 {
		return ""
	}
	return fmt.Sprintf("Not reached: %s. %s", strings.Join(hosts, ", "), w.Proxy.Hint)
}

// hostsOf are the hosts of a network. What is wrong with a list was said when its kind was
// read.
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

// Guarded is the way to a single host that somebody else has named, for git in a sandbox.
func Guarded(p *outbound.Proxy) (network process.Network, proxy string) {
	return process.Network{Doors: []process.Door{{Port: proxyPort, Serve: p.Serve}}}, proxyURL
}
