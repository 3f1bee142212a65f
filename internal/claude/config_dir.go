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

// ConfigDir is what the CLI has in a sandbox in place of its user's own configuration,
// which holds every conversation of that user.
type ConfigDir struct {
	// Env tells the CLI where it is.
	Env []string
	// Shown are files and directories to be read there, by where they are seen.
	Shown map[string]string
	// Readable are those that are seen where they lie.
	Readable []string
}

// conversations is where the CLI keeps them within its configuration.
const conversations = "projects"

// userSettings are what a user has set up for each run of the CLI.
var userSettings = []string{
	credentialsFile, settingsFile, "CLAUDE.md", "agents", "commands", "output-styles", "plugins", "skills",
}

const settingsFile = "settings.json"

// credentialsFile holds the user's login.
const credentialsFile = ".credentials.json"

// accountFile holds the user's account, and beside it what the user did where.
const accountFile = ".claude.json"

// accountKeys are what of it a turn needs, and loginKeys what it needs to sign in by itself.
var (
	accountKeys = []string{"hasCompletedOnboarding", "mcpServers"}
	loginKeys   = []string{"customApiKeyResponses", "oauthAccount", "primaryApiKey"}
)

// PrepareConfigDir makes dir a configuration for a turn: the user's settings and login,
// to be read, and the conversation that earlier turns have left there. Whatever else they
// left goes: a turn that changes how the CLI is set up would change what is asked of
// people in the next one. environ is the CLI's environment. Without login, the user's login
// stays out. If the CLI runs as another user, it gets copies of what its user alone may read.
func PrepareConfigDir(dir string, environ []string, login, otherUser bool) (ConfigDir, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ConfigDir{}, err
	}
	root, err := os.OpenRoot(dir) // links in there are a job's
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
	// Without settings of the user, nobody writes any.
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
		if otherUser && !forAll(source) {
			c.Shown[seen], err = seen, errors.Join(root.RemoveAll(name), copyInto(seen, source))
		} else {
			c.Shown[seen], err = source, place(root, name, info.IsDir())
		}
		if err != nil {
			return ConfigDir{}, err
		}
	}
	return c, root.WriteFile(accountFile, account(user.account, login), 0o600)
}

// forAll reports whether everybody may read what is in a place.
func forAll(place string) bool {
	err := filepath.WalkDir(place, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path) // a link counts as what it leads to
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

// copyInto copies a file, or the files of a directory, to a place that is not there yet.
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

// place makes something that can be covered.
func place(root *os.Root, name string, isDir bool) error {
	if isDir {
		return root.Mkdir(name, 0o700)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// account is what a turn needs of a user's account; an empty one where there is none.
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

// user is where the CLI's user has what.
type user struct {
	config, account string
	// clouds are logins at clouds that serve the model, where one is in use.
	clouds []string
}

func userOf(environ []string) user {
	vars := variables(environ)
	home := vars["HOME"]
	u := user{config: filepath.Join(home, ".claude"), account: filepath.Join(home, accountFile)}
	if dir := vars["CLAUDE_CONFIG_DIR"]; dir != "" {
		u = user{config: dir, account: filepath.Join(dir, accountFile)}
	}
	logins := map[string][]string{
		"CLAUDE_CODE_USE_BEDROCK": {filepath.Join(home, ".aws")},
		"CLAUDE_CODE_USE_VERTEX":  {filepath.Join(home, ".config", "gcloud"), vars["GOOGLE_APPLICATION_CREDENTIALS"]},
	}
	for variable, places := range logins {
		for _, place := range places {
			if _, err := os.Stat(place); vars[variable] != "" && !errors.Is(err, fs.ErrNotExist) {
				u.clouds = append(u.clouds, place)
			}
		}
	}
	return u
}
