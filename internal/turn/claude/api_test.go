package claude_test

import (
	"net/http"
	"os"
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

// Another login is another account; other changes that the CLI makes to its files are not.
func TestAccountIsThatOfTheLogin(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	environ := []string{"HOME=" + home}
	withKey := []string{"HOME=" + home, "ANTHROPIC_API_KEY=x"}
	file := filepath.Join(home, ".claude.json")
	account := func(login string) string {
		t.Helper()
		must.OK(t, os.WriteFile(file, []byte(login), 0o600))
		return accountOf(t, environ)
	}
	first := account(`{"oauthAccount":{"accountUuid":"a","organizationUuid":"o"}}`)
	byKey := accountOf(t, withKey)
	second := account(`{"oauthAccount":{"accountUuid":"b","organizationUuid":"o"}}`)
	if second == first {
		t.Error("another login is not noticed")
	}
	must.Equal(t, second, account(`{"oauthAccount":{"accountUuid":"b","organizationUuid":"o"},"numStartups":2}`))
	must.Equal(t, byKey, accountOf(t, withKey), "with a key, a login counts")
	must.OK(t, os.Remove(file))
	if got := accountOf(t, environ); got == first || got == second {
		t.Errorf("logged out, it is %s", got)
	}
}

func accountOf(t *testing.T, environ []string) string {
	t.Helper()
	return claude.Account(environ, must.Get(claude.Login(environ))(t))
}

// A file that cannot be read, or is just being written, says nothing about the login.
func TestALoginThatCannotBeRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, ".claude.json")
	must.OK(t, os.WriteFile(file, []byte(`{"oauthAccount":{"acc`), 0o600))
	must.Fail(t, second(claude.Login([]string{"HOME=" + home})), "unexpected end")
	must.OK(t, os.Remove(file))
	must.OK(t, os.Mkdir(file, 0o700))
	must.Fail(t, second(claude.Login([]string{"HOME=" + home})), "directory")
	must.OK(t, second(claude.Login([]string{"HOME=" + home, "ANTHROPIC_API_KEY=x"})))
}

func second(_ string, err error) error { return err }

// The hosts of the model are those that the CLI would call.
func TestWhereTheModelIs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, ".claude", "settings.json"), `{"env": {"ANTHROPIC_BASE_URL": "https://gateway.example/v1", "N": 1}}`)
	for name, c := range map[string]struct {
		environ []string
		want    string
		local   []string
	}{
		"nothing":        {nil, "api.anthropic.com", nil},
		"a gateway":      {[]string{"ANTHROPIC_BASE_URL=http://litellm:4000"}, "litellm:4000", nil},
		"this machine":   {[]string{"ANTHROPIC_BASE_URL=http://localhost:8080/x"}, "", []string{"localhost:8080"}},
		"Bedrock":        {[]string{"CLAUDE_CODE_USE_BEDROCK=1"}, "bedrock-runtime.*.amazonaws.com", nil},
		"Bedrock's own":  {[]string{"CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_BEDROCK_BASE_URL=https://bedrock.example"}, "bedrock.example:443", nil},
		"Vertex":         {[]string{"CLAUDE_CODE_USE_VERTEX=1"}, "*-aiplatform.googleapis.com", nil},
		"not Vertex":     {[]string{"CLAUDE_CODE_USE_VERTEX=0"}, "api.anthropic.com", nil},
		"settings.json":  {[]string{"HOME=" + home, "ANTHROPIC_BASE_URL=http://localhost:1"}, "gateway.example:443", nil},
		"no settings":    {[]string{"HOME=" + t.TempDir()}, "platform.claude.com", nil},
		"what is no URL": {[]string{"ANTHROPIC_BASE_URL=gateway"}, "", nil},
	} {
		hosts, local := claude.ModelHosts(c.environ)
		if c.want != "" && !slices.Contains(hosts, c.want) || c.want == "" && len(hosts) > 0 || !slices.Equal(local, c.local) {
			t.Errorf("%s: got %v, %v, want %s, %v", name, hosts, local, c.want, c.local)
		}
	}
}
