package process_test

import (
	"testing"

	"ringback/internal/sandbox/process"
	"ringback/test/must"
)

func TestProgramsSeeOnlyWhatTheyNeed(t *testing.T) {
	t.Parallel()
	environ := []string{
		"PATH=/bin", "LC_TIME=de_DE", "HOME=/root", "HTTPS_PROXY=p", "http_proxy=p", "GH_TOKEN=t", "GOPATH=/go", "ANTHROPIC_API_KEY=k",
		"API_KEYS=secret", "JWT_SECRET=secret", "REDIS_URL=secret", "WEBHOOK_SECRET=secret", "PATHS=1", "XPATH=1", "path=1", "LC=1", "=1", "broken",
	}
	for name, c := range map[string]struct {
		among []process.Variables
		want  []string
	}{
		"any program":               {[]process.Variables{process.Basics}, []string{"PATH=/bin", "LC_TIME=de_DE"}},
		"one of the user's":         {[]process.Variables{process.Basics, process.Person}, []string{"PATH=/bin", "LC_TIME=de_DE", "HOME=/root"}},
		"proxies in both spellings": {[]process.Variables{process.Proxies}, []string{"HTTPS_PROXY=p", "http_proxy=p"}},
		"git's logins":              {[]process.Variables{process.Remotes}, []string{"GH_TOKEN=t"}},
		"all there are": {
			[]process.Variables{process.Basics, process.Person, process.Terminal, process.Certificates, process.Proxies, process.Remotes, process.Toolchains, process.Model, process.Bedrock, process.Vertex},
			environ[:8],
		},
		"none": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, c.want, process.Pick(environ, c.among...))
		})
	}
}
