package config

import (
	"fmt"

	"ringback/internal/lazy"
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

// distinct counts the distinct bytes of a text.
func distinct(text string) int {
	seen := map[byte]bool{}
	for i := range len(text) {
		seen[text[i]] = true
	}
	return len(seen)
}

// checkSecret returns an error if a secret is easy to guess or too short.
func checkSecret(name, secret string, least int) error {
	if len(secret) < least {
		return fmt.Errorf("%s: want at least %d characters, such as openssl rand -hex 32 prints", name, least)
	}
	if why := guessable(secret); why != "" {
		return fmt.Errorf("%s %s, so it can be guessed: set what openssl rand -hex 32 prints", name, why)
	}
	return nil
}
