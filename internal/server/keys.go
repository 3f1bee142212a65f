package server

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringback/internal/server/config"
	"ringback/internal/web/apikey"
)

// readKeysEvery is the interval at which the key file is checked.
const readKeysEvery = time.Second / 2

// startKeys reads the keys of back ends; none if none are needed.
func (n *node) startKeys(context.Context) (stop func(), err error) {
	if c := n.opts.Config; c.HasKeys() || len(n.opts.Keys) > 0 {
		n.keys, err = apikey.Open(c.APIKeysFile, append(slices.Clip(c.Keys), n.opts.Keys...)...)
	}
	return nil, err
}

// watchKeys applies the keys of a changed file, and closes the WebSockets of removed
// keys.
func (n *node) watchKeys(ctx context.Context) {
	if n.keys == nil {
		return
	}
	n.keys.Watch(ctx, readKeysEvery, func() {
		if fault := n.keys.Fault(); fault != nil {
			n.log.Error("API keys not reloaded: the previous keys stay in force", "error", fault)
			return
		}
		n.log.Info("API keys reloaded", "file", n.opts.Config.APIKeysFile, "keys", n.keys.Len())
		if n.keys.Len() == 0 {
			n.log.Warn("no API key is left: all back ends are refused", "file", n.opts.Config.APIKeysFile)
		}
		n.hub.CheckCredentials()
	})
}

// keyWarnings warns that the key file is invalid. The details are only in the log,
// because anyone may query the server's readiness.
func (n *node) keyWarnings() []string {
	if n.keys == nil || n.keys.Fault() == nil {
		return nil
	}
	return []string{
		"API_KEYS_FILE cannot be read: the previous keys stay in force. The log has the reason.",
	}
}

// checkKeyFile warns about a key file that other users could add keys to, and about expired keys.
func checkKeyFile(c config.Config) (found []string) {
	if c.APIKeysFile == "" {
		return nil
	}
	if apikey.OthersMayWrite(c.APIKeysFile) {
		found = append(found, fmt.Sprintf(
			"API_KEYS_FILE %s: every user of this machine can write to it, and so add a key: chmod o-w it", c.APIKeysFile,
		))
	}
	if keys, err := apikey.Open(c.APIKeysFile); err == nil {
		for _, name := range keys.Expired() {
			found = append(found, fmt.Sprintf("API_KEYS_FILE %s: the key %s has expired", c.APIKeysFile, name))
		}
	}
	return found
}

// checkKeys reads the key file like a start of the server.
func checkKeys(_ context.Context, s *setup) []Finding {
	if s.APIKeysFile == "" {
		return nil
	}
	keys, err := apikey.Open(s.APIKeysFile)
	if err != nil {
		return []Finding{problem("%v", err)}
	}
	return []Finding{fine("API_KEYS_FILE %s: keys: %d", s.APIKeysFile, keys.Len())}
}
