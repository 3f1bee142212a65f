package config

import (
	"fmt"

	"ringback/internal/lazy"
)

// placeholder is how documents write a secret that the reader has to make.
var placeholder = lazy.Regexp(`(?i)^(please-make-one|change-?me|a-secret-of-\d+-characters)`)

// guessable says why a secret is no secret; "" where nothing speaks against it.
func guessable(secret string) string {
	switch {
	case placeholder().MatchString(secret):
		return "is a placeholder from a document"
	case distinct(secret) < fewCharacters:
		return "repeats the same few characters"
	}
	return ""
}

// fewCharacters are too few different ones: 32 random hex digits have 14 on average.
const fewCharacters = 4

// distinct counts the different bytes of a text.
func distinct(text string) int {
	seen := map[byte]bool{}
	for i := range len(text) {
		seen[text[i]] = true
	}
	return len(seen)
}

// checkSecret returns an error where somebody could guess a secret, or it is too short.
func checkSecret(name, secret string, least int) error {
	if len(secret) < least {
		return fmt.Errorf("%s: want at least %d characters, such as openssl rand -hex 32 prints", name, least)
	}
	if why := guessable(secret); why != "" {
		return fmt.Errorf("%s %s, so it can be guessed: set what openssl rand -hex 32 prints", name, why)
	}
	return nil
}
