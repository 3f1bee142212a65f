package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"ringback/internal/people/notify"
	"ringback/internal/text/lazy"
)

// placeholder matches the placeholders for secrets in our documents.
var placeholder = lazy.Regexp(`(?i)^(please-make-one|change-?me|a-secret-of-\d+-characters)`)

// guessable returns why a secret is easy to guess; "" if it is not known to be.
func guessable(secret string) string {
	switch {
	case placeholder().MatchString(secret):
		return "is a placeholder from a document"
	case distinct(secret) < fewCharacters:
		return "repeats the same few characters"
	}
	return ""
}

// fewCharacters is the minimum number of distinct characters: 32 random hex digits have 14
// on average.
const fewCharacters = 4

func distinct(text string) int {
	seen := map[byte]bool{}
	for i := range len(text) {
		seen[text[i]] = true
	}
	return len(seen)
}

// checkSecret returns an error if a secret cannot be used, is easy to guess or is too short.
func checkSecret(name, secret string, least int) error {
	switch why := guessable(secret); {
	case strings.TrimSpace(secret) != secret || strings.ContainsFunc(secret, unicode.IsControl):
		return fmt.Errorf("%s: it begins or ends with white space, or contains a line break or a tab, which others would have to send or sign with: remove it", name)
	case len(secret) < least:
		return fmt.Errorf("%s: expected at least %d characters, such as openssl rand -hex 32 prints", name, least)
	case why != "":
		return fmt.Errorf("%s %s, so it can be guessed: set it to the output of openssl rand -hex 32", name, why)
	}
	return nil
}

// checkSecrets checks the secrets that are set. Errors contain no part of a secret.
func (c Config) checkSecrets() (faults []error) {
	for i, key := range c.APIKeys {
		name := "API_KEYS, key " + strconv.Itoa(i+1)
		if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			faults = append(faults, fmt.Errorf("%s: it contains a space or another character that no Authorization header can send: "+
				"expected letters, digits and signs of ASCII, and only a comma between two keys", name))
			continue
		}
		faults = append(faults, checkSecret(name, key, 16))
	}
	for _, s := range []struct {
		name, text string
		least      int
	}{{"JWT_SECRET", c.JWTSecret, 32}, {"SLACK_SIGNING_SECRET", c.SlackSecret, 1}} {
		if s.text != "" {
			faults = append(faults, checkSecret(s.name, s.text, s.least))
		}
	}
	for _, s := range []struct {
		name, text string
		least      int
	}{{"WEBHOOK_SECRET", c.WebhookSecret, 1}, {"INBOUND_WEBHOOK_SECRET", c.InboundSecret, 32}} {
		if _, err := notify.ParseSecrets(s.text); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", s.name, err))
		}
		for secret := range strings.FieldsSeq(s.text) {
			faults = append(faults, checkSecret(s.name, secret, s.least))
		}
	}
	return faults
}
