package process_test

import (
	"fmt"
	"os/exec"
	"strings"
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

// The limit is that of the system: what is reported does not start, and what is not does.
func TestArgumentsThatNoProgramCanBeGiven(t *testing.T) {
	t.Parallel()
	const longest = 128<<10 - 1
	for name, c := range map[string]struct {
		args  []string
		index int
		fault string
	}{
		"none":                  {nil, 0, ""},
		"short ones":            {[]string{"", "a", "b c"}, 0, ""},
		"one as long as can be": {[]string{"a", strings.Repeat("x", longest)}, 0, ""},
		"one byte more":         {[]string{"a", strings.Repeat("x", longest+1)}, 1, "has 131072 bytes; the system gives a program at most 131071 in one argument"},
		"a NUL":                 {[]string{"a", "b", "c\x00"}, 2, "contains a NUL character, which no program can be given"},
	} {
		index, fault := process.ArgumentFault(c.args)
		must.Equal(t, c.index, index, name)
		must.Equal(t, c.fault, fault, name)
		must.Equal(t, fault == "", exec.Command("true", c.args...).Run() == nil, name+": starts")
	}
	many := make([]string, 20)
	for i := range many {
		many[i] = strings.Repeat("x", 60_000)
	}
	index, fault := process.ArgumentFault(many)
	must.Equal(t, -1, index, "of all together")
	must.Equal(t, "has 1200020 bytes; a program gets at most 1048576", fault)
}

func TestSecretsOfAnEnvironmentAreHidden(t *testing.T) {
	t.Parallel()
	s := process.SecretsOf([]string{
		"ANTHROPIC_API_KEY=sk-of-the-model", "API_KEYS=first-of-two-keys, second-of-two-keys", "HTTPS_PROXY=http://me:gr8-password@proxy:1", "PRIVATE_KEY=-----BEGIN\nMIIEvQIBADAN\n-----END",
		`ODD_TOKEN=a "quoted" <token>`, "SHORT_KEY=short", "PATH=/usr/local/bin", "API_KEYS_FILE=/etc/ringback/keys", "SLACK_WEBHOOK_URL=https://hooks.example/T1/B2/xyz",
	})
	for _, secret := range []string{
		"sk-of-the-model", "first-of-two-keys", "second-of-two-keys", "gr8-password", "MIIEvQIBADAN", `a "quoted" <token>`, `a \"quoted\" <token>`, `a \"quoted\" \u003ctoken\u003e`, "https://hooks.example/T1/B2/xyz",
	} {
		must.Equal(t, "see "+strings.Repeat("*", len(secret))+".", string(s.Hide([]byte("see "+secret+"."))), secret, "became")
	}
	for _, plain := range []string{"", "short", "/usr/local/bin", "/etc/ringback/keys", "proxy", "sk-of-the-mode"} {
		must.Equal(t, plain, string(s.Hide([]byte(plain))), "became")
	}
	for text, want := range map[string]int{"": 0, "see": 0, "see sk-of": 5, "see sk-of-the-model": 0, "sk-of-the-mode": 14, "first-of-two-key": 16, "see s": 1} {
		must.Equal(t, want, s.Open([]byte(text)), text, "ends with … bytes of a secret")
	}
}

// The secrets that a program was given do not appear in its kept output, not even partly
// at a cut.
func TestAProgramsSecretsAreNotInItsOutput(t *testing.T) {
	t.Parallel()
	const secret = "a-token-of-the-remote-0123456789"
	for name, script := range map[string]string{
		"whole":            `echo $DEPLOY_TOKEN; echo $DEPLOY_TOKEN >&2`,
		"in two pieces":    `printf a-token-of-the; sleep 0.05; echo -remote-0123456789`,
		"in JSON":          `echo "{\"token\":\"$DEPLOY_TOKEN\"}"`,
		"without an end":   `printf $DEPLOY_TOKEN`,
		"at the first cut": `head -c 190 /dev/zero | tr '\0' x; printf $DEPLOY_TOKEN; head -c 1000 /dev/zero | tr '\0' y`,
		"at the last cut":  `head -c 1000 /dev/zero | tr '\0' x; printf $DEPLOY_TOKEN; head -c 190 /dev/zero | tr '\0' y`,
	} {
		var lines []string
		ended, err := process.Run(t.Context(), process.Command{
			Args: []string{"bash", "-c", script}, Env: []string{"PATH=/bin:/usr/bin", "DEPLOY_TOKEN=" + secret}, OutputLimit: 400,
			Line: func(text string) { lines = append(lines, text) },
		})
		must.OK(t, err)
		text := fmt.Sprint(ended.Stdout, ended.Stderr, ended.LastLine, lines)
		for piece := 0; piece+8 <= len(secret); piece++ {
			if strings.Contains(text, secret[piece:piece+8]) {
				t.Errorf("%s: the output holds %q: %s", name, secret[piece:piece+8], text)
				break
			}
		}
		if !strings.Contains(text, "*") && !strings.Contains(name, "cut") {
			t.Errorf("%s: nothing is left of it: %s", name, text)
		}
	}
}
