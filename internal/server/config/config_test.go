package config_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/server/config"
	"ringback/test/must"
)

// example returns the variables of .env.example.
func example(t *testing.T) map[string]string {
	t.Helper()
	text := must.Get(os.ReadFile("../../../.env.example"))(t)
	vars := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`).FindAllStringSubmatch(string(text), -1) {
		vars[match[1]] = match[2]
	}
	return vars
}

func TestEnvExampleListsEveryVariable(t *testing.T) {
	t.Parallel()
	must.Equal(t, slices.Sorted(slices.Values(config.Variables())), slices.Sorted(maps.Keys(example(t))), ".env.example differs from the variables that are read")
}

func TestEnvExampleHoldsTheDefaults(t *testing.T) {
	t.Parallel()
	none := must.Get(config.LoadFrom(nil))(t)
	all, err := config.LoadFrom(example(t))
	if diff := cmp.Diff(none, all); diff != "" || err != nil {
		t.Errorf(".env.example differs from the defaults: %v (-default +example):\n%s", err, diff)
	}
}

func TestAllFaultsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.LoadFrom(map[string]string{
		"LISTEN_ADDR": "0.0.0.0:3001", "CALLBACK_BASE_URL": "ftp://x", "PUBLIC_URL": "https://a.example/?x", "CALLBACK_TIMEOUT": "1ms", "JWT_SECRET": "", "API_KEYS": "",
		"WORKERS": "9999",
	})
	for _, name := range []string{"LISTEN_ADDR", "CALLBACK_BASE_URL", "PUBLIC_URL", "CALLBACK_TIMEOUT", "WORKERS", "API_KEYS"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named in: %v", name, err)
		}
	}
	_, err = config.LoadFrom(map[string]string{"CALLBACK_TIMEOUT": "soon", "WORKERS": "many"})
	for _, name := range []string{"CALLBACK_TIMEOUT", "WORKERS"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named in: %v", name, err)
		}
	}
}

// Callbacks without a signature are accepted only where nothing else keeps others away either.
func TestWhenCallbacksNeedASignature(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set       map[string]string
		sandboxed bool
		want      bool
	}{
		"an open server":           {nil, false, false},
		"a sandbox":                {nil, true, true},
		"keys":                     {map[string]string{"API_KEYS": "a-key-of-the-back-end-1"}, false, true},
		"tokens":                   {map[string]string{"JWT_SECRET": "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"}, false, true},
		"a listener of their own":  {map[string]string{"CALLBACK_LISTEN_ADDR": "127.0.0.1:3002"}, false, true},
		"a sandbox, but set false": {map[string]string{"CALLBACK_STRICT": "false"}, true, false},
		"an open server, set true": {map[string]string{"CALLBACK_STRICT": "true"}, false, true},
	} {
		loaded := must.Get(config.LoadFrom(c.set))(t)
		must.Equal(t, c.want, loaded.Strict(c.sandboxed), name)
	}
	_, err := config.LoadFrom(map[string]string{"CALLBACK_STRICT": "maybe"})
	must.Fail(t, err, "CALLBACK_STRICT")
	must.Fail(t, err, "true or false")
}

func TestOpenModeListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	for addr, allowed := range map[string]bool{
		"127.0.0.1:3001": true, "localhost:80": true, "[::1]:3001": true, "0.0.0.0:3001": false, ":3001": false, "10.0.0.1:3001": false,
	} {
		if _, err := config.LoadFrom(map[string]string{"LISTEN_ADDR": addr}); (err == nil) != allowed {
			t.Errorf("%s without keys: %v", addr, err)
		}
		if _, err := config.LoadFrom(map[string]string{"LISTEN_ADDR": addr, "API_KEYS": "a-key-of-the-back-end"}); err != nil {
			t.Errorf("%s with a key: %v", addr, err)
		}
	}
}

// The listener for operators asks for no key: that others reach it is to be decided.
func TestOtherMachinesReachOperatorsOnlyIfThatIsSaid(t *testing.T) {
	t.Parallel()
	for addr, isLocal := range map[string]bool{
		"127.0.0.1:9464": true, "localhost:9464": true, "[::1]:0": true, "": true, "0.0.0.0:9464": false, ":9464": false, "10.0.0.1:9464": false,
	} {
		vars := map[string]string{"OPERATOR_LISTEN_ADDR": addr, "API_KEYS": "a-key-of-the-back-end"}
		c, err := config.LoadFrom(vars)
		must.Equal(t, isLocal, err == nil, addr, err)
		must.Equal(t, addr, c.OperatorListenAddr, "an empty one is none")
		vars["OPERATOR_REMOTE"] = "true"
		must.Get(config.LoadFrom(vars))(t)
	}
	must.Equal(t, "127.0.0.1:9464", must.Get(config.LoadFrom(nil))(t).OperatorListenAddr, "the default")
}

func TestCallbackURLFollowsThePort(t *testing.T) {
	t.Parallel()
	c, err := config.LoadFrom(map[string]string{"LISTEN_ADDR": "127.0.0.1:4000"})
	if err != nil || c.CallbackBaseURL != "http://localhost:4000" {
		t.Errorf("CallbackBaseURL is %q, %v", c.CallbackBaseURL, err)
	}
}

func TestPathsAreAbsolute(t *testing.T) {
	t.Parallel()
	here := must.Get(os.Getwd())(t)
	type paths struct{ Data, Prompts, Schemas, Claude string }
	for name, c := range map[string]struct {
		vars map[string]string
		want paths
	}{
		"the defaults": {nil, paths{here + "/data", "", "", "claude"}},
		"set to nothing": {
			map[string]string{"DATA_DIR": "", "PROMPTS_DIR": "", "SCHEMAS_DIR": "", "CLAUDE_BIN": ""}, paths{here + "/data", "", "", "claude"},
		},
		"relative": {
			map[string]string{"DATA_DIR": "d/../x", "PROMPTS_DIR": "./p", "SCHEMAS_DIR": "s/", "CLAUDE_BIN": "bin/claude"},
			paths{here + "/x", here + "/p", here + "/s", here + "/bin/claude"},
		},
		"above":    {map[string]string{"CLAUDE_BIN": "../claude"}, paths{here + "/data", "", "", filepath.Dir(here) + "/claude"}},
		"absolute": {map[string]string{"DATA_DIR": "/srv/d", "CLAUDE_BIN": "/opt/claude"}, paths{"/srv/d", "", "", "/opt/claude"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := must.Get(config.LoadFrom(c.vars))(t)
			must.Equal(t, c.want, paths{got.DataDir, got.PromptsDir, got.SchemasDir, got.ClaudeBin})
		})
	}
}

func loadFile(t *testing.T, text string) (config.Config, error) {
	t.Helper()
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, ".env"), []byte(text), 0o600))
	return config.LoadServer(dir)
}

// With a misspelt API_KEYS_FILE, the server would be open to everyone.
func TestAMisspeltSettingIsRefused(t *testing.T) {
	t.Parallel()
	for name, meant := range map[string]string{
		"API_KEY_FILE": "API_KEYS_FILE", "API_KEYFILE": "API_KEYS_FILE", "API_KEYS_FILES": "API_KEYS_FILE", "API_KEY": "API_KEYS", "APIKEYS": "API_KEYS", "api_keys": "API_KEYS",
		"RINGBACK_API_KEYS": "API_KEYS", "JWT_SECRETS": "JWT_SECRET", "JWT_SECERT": "JWT_SECRET", "JWTSECRET": "JWT_SECRET", "ALLOWED_HOST": "ALLOWED_HOSTS", "SANDBOXES": "SANDBOX",
	} {
		if _, err := loadFile(t, name+"=0123456789abcdef-and-more-than-32\n"); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "did you mean "+meant+"?") {
			t.Errorf("%s: %v, want the question whether %s was meant", name, err, meant)
		}
	}
	var others strings.Builder
	for name := range strings.FieldsSeq(`PATH HOME LANG TZ TMPDIR SHELL TERM EDITOR HTTP_PROXY NO_PROXY GH_TOKEN GITHUB_TOKEN GOPATH GOPROXY ANTHROPIC_API_KEY ANTHROPIC_BASE_URL
		ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN AWS_REGION DATABASE_URL PORT HOST NODE_ENV REDIS_HOST REDIS_PORT DEBUG SECRET SECRET_KEY BASE_URL SMTP_HOST SLACK_BOT_TOKEN
		STRIPE_WEBHOOK_SECRET TOKEN MODEL SESSION_SECRET`) {
		others.WriteString(name + "=x\n")
	}
	_, err := loadFile(t, others.String())
	must.OK(t, err, "variables of other programs are refused:")
}

func TestASecretThatAnybodyCouldGuessIsRefused(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"please-make-one-with-openssl-rand-hex-32", "a-secret-of-32-characters-or-more", "change-me-change-me-change-me-now!", "CHANGEME-0123456789-0123456789-0123",
		strings.Repeat("s", 40), strings.Repeat("ab", 20), strings.Repeat("x", 39) + "y",
	} {
		for _, name := range []string{"API_KEYS", "JWT_SECRET", "WEBHOOK_SECRET", "INBOUND_WEBHOOK_SECRET"} {
			_, err := config.LoadFrom(map[string]string{name: secret})
			if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s=%s: %v, want a refusal that names the variable and does not show the secret", name, secret, err)
			}
		}
	}
	if _, err := config.LoadFrom(map[string]string{"JWT_SECRET": "5f1d2c3b4a59687786950a1b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d6e"}); err != nil {
		t.Errorf("a random secret is refused: %v", err)
	}
}

func TestAServerBehindAProxyNeedsKeys(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ALLOWED_HOSTS", "TRUSTED_PROXIES"} {
		vars := map[string]string{name: "10.0.0.5"}
		if _, err := config.LoadFrom(vars); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "JWT_SECRET") {
			t.Errorf("%s without keys: %v, want what to set", name, err)
		}
		vars["API_KEYS"] = "0f1e2d3c4b5a6978"
		if _, err := config.LoadFrom(vars); err != nil {
			t.Errorf("%s with a key: %v", name, err)
		}
	}
}
