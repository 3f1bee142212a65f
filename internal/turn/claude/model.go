package claude

import (
	"cmp"
	"encoding/json"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ringback/internal/sandbox/process"
)

// anthropic are the hosts at which the CLI reaches its model by default and renews a
// login.
var anthropic = []string{"api.anthropic.com", "console.anthropic.com", "platform.claude.com"}

type cloud struct {
	// hosts are those at which the CLI reaches the model.
	hosts []string
	// logins are the variables of the CLI's login there, and files its files.
	logins process.Variables
	files  []string
}

// clouds are the clouds, by the variable that selects each.
var clouds = map[string]cloud{
	"CLAUDE_CODE_USE_BEDROCK": {
		hosts: []string{
			"bedrock.*.amazonaws.com", "bedrock-runtime.*.amazonaws.com", "sts.amazonaws.com", "sts.*.amazonaws.com",
			"oidc.*.amazonaws.com", "portal.sso.*.amazonaws.com",
		},
		logins: process.Bedrock, files: []string{"$HOME/.aws"},
	},
	"CLAUDE_CODE_USE_VERTEX": {
		hosts: []string{
			"aiplatform.googleapis.com", "*-aiplatform.googleapis.com", "aiplatform.*.rep.googleapis.com",
			"oauth2.googleapis.com", "sts.googleapis.com", "iamcredentials.googleapis.com",
		},
		logins: process.Vertex, files: []string{"$HOME/.config/gcloud", "$GOOGLE_APPLICATION_CREDENTIALS"},
	},
	"CLAUDE_CODE_USE_FOUNDRY": {hosts: []string{"*.services.ai.azure.com", "login.microsoftonline.com"}},
}

// ModelHosts returns the addresses at which the CLI reaches its model in an
// environment: hosts by name, and addresses of this machine.
func ModelHosts(environ []string) (hosts, local []string) {
	vars := settingsOf(environ)
	for _, c := range chosenClouds(vars) {
		hosts = append(hosts, c.hosts...)
	}
	for name, value := range vars {
		if !strings.HasPrefix(name, "ANTHROPIC_") || !strings.HasSuffix(name, "BASE_URL") {
			continue
		}
		u, err := url.Parse(value)
		switch {
		case err != nil || u.Host == "":
		case isLoopback(u.Hostname()):
			local = append(local, addressOf(u))
		default:
			hosts = append(hosts, addressOf(u))
		}
	}
	if vars["ANTHROPIC_BASE_URL"] == "" {
		hosts = append(hosts, anthropic...)
	}
	slices.Sort(hosts)
	return hosts, local
}

// chosenClouds returns the clouds that the variables select, by anything but 0.
func chosenClouds(vars map[string]string) map[string]cloud {
	chosen := maps.Clone(clouds)
	maps.DeleteFunc(chosen, func(variable string, _ cloud) bool { return vars[variable] == "" || vars[variable] == "0" })
	return chosen
}

// PreflightHost is the host that the CLI asks before it fetches a page, regardless of its
// model's address.
const PreflightHost = "api.anthropic.com"

// settingsOf returns the CLI's variables: those of the environment, overridden by those
// of its user's settings.
func settingsOf(environ []string) map[string]string {
	vars := variables(environ)
	var settings struct {
		Env map[string]any `json:"env"`
	}
	text, err := os.ReadFile(filepath.Join(userOf(environ).config, settingsFile))
	if err != nil || json.Unmarshal(text, &settings) != nil {
		return vars
	}
	for name, value := range settings.Env {
		if value, ok := value.(string); ok {
			vars[name] = value
		}
	}
	return vars
}

func variables(environ []string) map[string]string {
	vars := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		vars[name] = value
	}
	return vars
}

func addressOf(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return net.JoinHostPort(u.Hostname(), port)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}
