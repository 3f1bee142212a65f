package claude_test

import (
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ringback/internal/turn/claude"
	"ringback/test/must"
)

// The server calls the API for a turn only if its own environment holds the credential.
func TestWhichAPITheServerCalls(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, ".claude", "settings.json"), `{"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}}`)
	for name, c := range map[string]struct {
		environ []string
		url     string
		header  http.Header
	}{
		"a key":            {[]string{"ANTHROPIC_API_KEY=k"}, "https://api.anthropic.com", http.Header{"X-Api-Key": {"k"}}},
		"a token":          {[]string{"ANTHROPIC_AUTH_TOKEN=t", "ANTHROPIC_BASE_URL=http://litellm:4000/x"}, "http://litellm:4000/x", http.Header{"Authorization": {"Bearer t"}}},
		"headers":          {[]string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_CUSTOM_HEADERS=X-Team: a: b\nx-other:c"}, "https://api.anthropic.com", http.Header{"X-Api-Key": {"k"}, "X-Team": {"a: b"}, "X-Other": {"c"}}},
		"a login":          {nil, "", nil},
		"a token of one":   {[]string{"CLAUDE_CODE_OAUTH_TOKEN=t"}, "", nil},
		"Bedrock":          {[]string{"ANTHROPIC_API_KEY=k", "CLAUDE_CODE_USE_BEDROCK=1"}, "", nil},
		"a certificate":    {[]string{"ANTHROPIC_API_KEY=k", "CLAUDE_CODE_CLIENT_CERT=/c"}, "", nil},
		"settings.json":    {[]string{"ANTHROPIC_API_KEY=k", "HOME=" + home}, "", nil},
		"what is no URL":   {[]string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=gateway"}, "", nil},
		"another protocol": {[]string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=file://x/y"}, "", nil},
	} {
		api, ok := claude.APIOf(c.environ)
		if ok != (c.url != "") || ok && (api.URL.String() != c.url || !reflect.DeepEqual(api.Header, c.header)) {
			t.Errorf("%s: got %v %v, %v", name, api.URL, api.Header, ok)
		}
	}
}

// The CLI's environment keeps the variables that configure it, and no credential.
func TestNoCredentialInTheEnvironmentOfATurn(t *testing.T) {
	t.Parallel()
	var parent []string
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_NEW_THING", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE",
		"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE", "CLAUDE_CODE_GATEWAY_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "VERTEX_X",
	} {
		parent = append(parent, name+"=planted")
	}
	kept := []string{"ANTHROPIC_MODEL=m", "ANTHROPIC_DEFAULT_OPUS_MODEL=o", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=9", "API_TIMEOUT_MS=5", "PATH=/bin"}
	parent = append(parent, kept...)
	api, ok := claude.APIOf(parent)
	if !ok {
		t.Fatal("the server has no credential")
	}
	got := api.Environ(claude.Environ(parent, time.Minute), "http://127.0.0.1:303")
	must.NotContain(t, strings.Join(got, "\n"), "planted", "there is a credential among", got)
	for _, want := range append(kept, "ANTHROPIC_BASE_URL=http://127.0.0.1:303", "ANTHROPIC_API_KEY="+claude.Placeholder, "ANTHROPIC_AUTH_TOKEN="+claude.Placeholder) {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
}
