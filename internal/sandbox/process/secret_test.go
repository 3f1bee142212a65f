package process_test

import (
	"fmt"
	"strings"
	"testing"

	"ringback/internal/sandbox/process"
	"ringback/test/must"
)

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
