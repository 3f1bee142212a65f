package claude

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"ringback/internal/job"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
)

// configDir is the CLI's configuration in a sandbox. It replaces that of the CLI's user, which
// holds every conversation of that user.
const configDir = "/run/claude"

// conversations is the CLI's directory for conversations within its configuration.
const conversations = "projects"

// SandboxConfig describes the CLI's configuration in a sandbox.
type SandboxConfig struct {
	Environ []string
	// Conversations is the directory that keeps the CLI's conversations.
	Conversations string
	// Login is set if the CLI gets its user's login.
	Login bool
	// Copies is a directory for copies of what only the CLI's user may read, if the CLI runs as
	// another user; empty if it does not. Copies of an earlier turn are removed.
	Copies string
}

// userSettings are the entries that a user has set up for every run of the CLI.
var userSettings = []string{
	credentialsFile, settingsFile, "CLAUDE.md", "agents", "commands", "output-styles", "plugins", "skills",
}

const settingsFile = "settings.json"

const credentialsFile = ".credentials.json"

// accountFile holds the user's account, and a record of what the user did in which directory.
const accountFile = ".claude.json"

// accountKeys are the keys of it that a turn needs, and loginKeys those that it needs to sign
// in by itself.
var (
	accountKeys = []string{"hasCompletedOnboarding", "mcpServers"}
	loginKeys   = []string{"customApiKeyResponses", "oauthAccount", "primaryApiKey"}
)

// Prepare gives a turn's process a configuration: the user's settings and login, which it cannot
// change, and the conversations of earlier turns. Nothing else remains when the turn ends, because
// the directory is in memory: a turn that changes the CLI's configuration could change what people
// are asked in the next turn. Prepare completes access, and returns the variables that point the CLI
// to the directory.
func (c SandboxConfig) Prepare(access *process.Access) (env []string, err error) {
	access.Temporary = append(access.Temporary, configDir)
	access.Kept = map[string]string{path.Join(configDir, conversations): c.Conversations}
	access.Shown = map[string]string{}
	if c.Copies != "" {
		err = untrusted.Remove(c.Copies)
	}
	user := userOf(c.Environ)
	for i, cloud := range user.clouds {
		err = errors.Join(err, c.show(access, cloud, cloud, "cloud-"+strconv.Itoa(i)))
	}
	for _, name := range userSettings {
		source := filepath.Join(user.config, name)
		if _, statErr := os.Stat(source); statErr == nil && (name != credentialsFile || c.Login) {
			err = errors.Join(err, c.show(access, path.Join(configDir, name), source, name))
		}
	}
	if settings := path.Join(configDir, settingsFile); access.Shown[settings] == "" { // the turn must not be able to write any
		access.Texts = append(access.Texts, process.Text{Path: settings, Content: "{}\n"})
	}
	access.Texts = append(access.Texts, process.Text{
		Path: path.Join(configDir, accountFile), Content: string(account(user.account, c.Login)), Writable: true,
	})
	return []string{"CLAUDE_CONFIG_DIR=" + configDir}, err
}

// show shows a file or directory at a path in the sandbox, or a copy of it with this name if the CLI
// runs as another user that may not read it.
func (c SandboxConfig) show(access *process.Access, target, source, name string) error {
	if access.Shown[target] = source; c.Copies == "" || forAll(source) {
		return nil
	}
	copied := filepath.Join(c.Copies, name)
	access.Shown[target] = copied
	access.Readable = append(access.Readable, copied) // so that it becomes the other user's
	if err := os.MkdirAll(c.Copies, 0o700); err != nil {
		return err
	}
	return copyInto(copied, source)
}

func forAll(target string) bool {
	err := filepath.WalkDir(target, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, statErr := os.Stat(path) // follows links, which may lead nowhere
		if statErr == nil && (info.Mode()&0o004 == 0 || info.IsDir() && info.Mode()&0o001 == 0) {
			return fs.ErrPermission
		}
		return nil
	})
	return err == nil
}

func copyInto(target, source string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(target, os.DirFS(source))
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return os.WriteFile(target, text, 0o600)
}

// account returns the part of a user's account that a turn needs, or an empty object if there
// is no account.
func account(file string, login bool) []byte {
	var all map[string]json.RawMessage
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return []byte("{}\n")
	}
	kept := map[string]json.RawMessage{}
	keys := accountKeys
	if login {
		keys = slices.Concat(keys, loginKeys)
	}
	for _, key := range keys {
		if value, ok := all[key]; ok {
			kept[key] = value
		}
	}
	return job.MustJSON(kept)
}

type user struct {
	config, account string
	// clouds are the login files of the clouds that serve the model, if one is in use.
	clouds []string
}

func userOf(environ []string) user {
	vars := variables(environ)
	home := vars["HOME"]
	u := user{config: filepath.Join(home, ".claude"), account: filepath.Join(home, accountFile)}
	if dir := vars["CLAUDE_CONFIG_DIR"]; dir != "" {
		u = user{config: dir, account: filepath.Join(dir, accountFile)}
	}
	for _, c := range chosenClouds(vars) {
		for _, file := range c.files {
			target := os.Expand(file, func(name string) string { return vars[name] })
			if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
				u.clouds = append(u.clouds, target)
			}
		}
	}
	return u
}
