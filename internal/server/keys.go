package server

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringback/internal/apikey"
	"ringback/internal/config"
)

// lookAtKeys is how often the file of keys is looked at.
const lookAtKeys = time.Second / 2

// openKeys reads the keys of back ends; nil where none are needed.
func openKeys(o Options) (*apikey.Set, error) {
	if !o.Config.HasKeys() && len(o.Keys) == 0 {
		return nil, nil
	}
	return apikey.Open(o.Config.APIKeysFile, append(slices.Clip(o.Config.Keys), o.Keys...)...)
}

// watchKeys puts the keys of a changed file in force, and ends the WebSockets of those
// that are no more.
func (n *node) watchKeys(ctx context.Context) {
	if n.keys == nil {
		return
	}
	n.keys.Watch(ctx, lookAtKeys, func() {
		if fault := n.keys.Fault(); fault != nil {
			n.log.Error("the keys of back ends could not be read again: those read before stay in force", "error", fault)
			return
		}
		n.log.Info("the keys of back ends were read again", "file", n.opts.Config.APIKeysFile, "keys", n.keys.Len())
		if n.keys.Len() == 0 {
			n.log.Warn("no back end is let in, for no key is left", "file", n.opts.Config.APIKeysFile)
		}
		n.hub.CheckCredentials()
	})
}

// keyWarnings says that the file of keys is not in order. What exactly stands in the log:
// anyone may ask whether the server is ready.
func (n *node) keyWarnings() []string {
	if n.keys == nil || n.keys.Fault() == nil {
		return nil
	}
	return []string{"API_KEYS_FILE cannot be read as it is now: the keys read before stay in force. The log says what is wrong with it."}
}

// checkKeyFile warns of a file of keys that others could add to.
func checkKeyFile(c config.Config) []string {
	if c.APIKeysFile == "" || !apikey.OthersMayWrite(c.APIKeysFile) {
		return nil
	}
	return []string{fmt.Sprintf("API_KEYS_FILE %s: everybody on this machine may write into it, and so let themselves in: chmod o-w it", c.APIKeysFile)}
}

// checkKeys reads the file of keys as a start would.
func checkKeys(c config.Config) []Finding {
	if c.APIKeysFile == "" {
		return nil
	}
	keys, err := apikey.Open(c.APIKeysFile)
	if err != nil {
		return []Finding{problem("%v", err)}
	}
	found := []Finding{fine("API_KEYS_FILE %s: keys: %d", c.APIKeysFile, keys.Len())}
	for _, name := range keys.Expired() {
		found = append(found, note("API_KEYS_FILE %s: the key %s has expired", c.APIKeysFile, name))
	}
	for _, warning := range checkKeyFile(c) {
		found = append(found, note("%s", warning))
	}
	return found
}
