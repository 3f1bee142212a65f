package claude

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// ConfigDir is the configuration that the CLI uses in a sandbox in place of its user's
// own, which holds every conversation of that user.
type ConfigDir struct {
	// Env points the CLI to the directory.
	Env []string
	// Shown maps paths in the sandbox to the files and directories that are mounted there
	// read-only.
	Shown map[string]string
	// Readable are files and directories that are visible at their own path.
	Readable []string
}

// conversations is the CLI's directory for conversations within its configuration.
const conversations = "projects"

// userSettings are the entries that a user has set up for every run of the CLI.
var userSettings = []string{
	credentialsFile, settingsFile, "CLAUDE.md", "agents", "commands", "output-styles", "plugins", "skills",
}

const settingsFile = "settings.json"

// credentialsFile holds the user's login.
const credentialsFile = ".credentials.json"

// accountFile holds the user's account, and a record of what the user did in which directory.
const accountFile = ".claude.json"

// accountKeys are the keys of it that a turn needs, and loginKeys those that it needs to sign
// in by itself.
var (
	accountKeys = []string{"hasCompletedOnboarding", "mcpServers"}
	loginKeys   = []string{"customApiKeyResponses", "oauthAccount", "primaryApiKey"}
)

// PrepareConfigDir makes dir a configuration for a turn: the user's settings and login,
// read-only, and the conversation of earlier turns. It deletes everything else that they
// left: a turn that changes the CLI's configuration could change what people are asked in the
// next turn. environ is the CLI's environment. Unless login is set, the user's login is left
// out. If the CLI runs as another user, it gets copies of the files that only its user may
// read.
func PrepareConfigDir(dir string, environ []string, login, otherUser bool) (ConfigDir, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ConfigDir{}, err
	}
	root, err := os.OpenRoot(dir) // a job may have put links in there
	if err != nil {
		return ConfigDir{}, err
	}
	defer root.Close()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ConfigDir{}, err
	}
	for _, e := range entries {
		if e.Name() != conversations || !e.IsDir() {
			err = errors.Join(err, root.RemoveAll(e.Name()))
		}
	}
	if err != nil {
		return ConfigDir{}, err
	}
	user := userOf(environ)
	c := ConfigDir{Env: []string{"CLAUDE_CONFIG_DIR=" + dir}, Shown: map[string]string{}}
	for i, cloud := range user.clouds {
		if !otherUser || forAll(cloud) {
			c.Readable = append(c.Readable, cloud)
			continue
		}
		kept := filepath.Join(dir, "cloud-"+strconv.Itoa(i))
		if err := copyInto(kept, cloud); err != nil {
			return ConfigDir{}, err
		}
		c.Shown[cloud] = kept
	}
	// Without settings of the user, the sandbox must still not be able to write any.
	if err := root.WriteFile(settingsFile, []byte("{}\n"), 0o600); err != nil {
		return ConfigDir{}, err
	}
	c.Shown[filepath.Join(dir, settingsFile)] = filepath.Join(dir, settingsFile)
	for _, name := range userSettings {
		if name == credentialsFile && !login {
			continue
		}
		source := filepath.Join(user.config, name)
		info, err := os.Stat(source)
		if err != nil {
			continue
		}
		seen := filepath.Join(dir, name)
		c.Shown[seen] = source
		switch {
		case otherUser && !forAll(source):
			c.Shown[seen], err = seen, errors.Join(root.RemoveAll(name), copyInto(seen, source))
		case info.IsDir(): // only something to mount on
			err = root.Mkdir(name, 0o700)
		default:
			err = root.WriteFile(name, nil, 0o600)
		}
		if err != nil {
			return ConfigDir{}, err
		}
	}
	return c, root.WriteFile(accountFile, account(user.account, login), 0o600)
}

// forAll reports whether every user may read all files below a path.
func forAll(place string) bool {
	err := filepath.WalkDir(place, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path) // follow links
		if err != nil {
			return nil //nolint:nilerr // it leads nowhere
		}
		if info.Mode()&0o004 == 0 || info.IsDir() && info.Mode()&0o001 == 0 {
			return fs.ErrPermission
		}
		return nil
	})
	return err == nil
}

// copyInto copies a file, or the files of a directory, to a path that does not exist yet.
func copyInto(place, source string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(place, os.DirFS(source))
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return os.WriteFile(place, text, 0o600)
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
	text, err = json.Marshal(kept)
	if err != nil {
		return []byte("{}\n")
	}
	return text
}

// user holds the paths of the CLI user's configuration.
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
			place := os.Expand(file, func(name string) string { return vars[name] })
			if _, err := os.Stat(place); !errors.Is(err, fs.ErrNotExist) {
				u.clouds = append(u.clouds, place)
			}
		}
	}
	return u
}
