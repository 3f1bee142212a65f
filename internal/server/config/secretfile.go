package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"ringback/internal/text/lazy"
)

// inFile ends the name of a variable that names a file with a secret, in place of the secret itself.
const inFile = "_FILE"

// secretSettings are the settings that hold a secret, except for API_KEYS: the file for these lists digests.
var secretSettings = sync.OnceValue(func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if f.Tag.Get("secret") != "" {
			names = append(names, variableOf(f.Name))
		}
	}
	return names
})

// otherSecrets are credentials that the server, or a program that it starts, takes from the environment.
var otherSecrets = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN",
}

// readSecrets sets the variables that have their values in files, and returns these files: for each secret NAME the
// file that NAME_FILE names, and what a service manager keeps in CREDENTIALS_DIRECTORY. NAME_FILE is removed, so
// that no program that is started reads it.
func readSecrets(vars map[string]string) (files []string, err error) {
	places, err := credentials(vars["CREDENTIALS_DIRECTORY"])
	for _, name := range slices.Concat(secretSettings(), otherSecrets) {
		if file := cmp.Or(vars[name+inFile], places[name+inFile]); file != "" {
			places[name] = file
		}
		delete(vars, name+inFile)
		delete(places, name+inFile)
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		place, value, fault := readSecret(places[name])
		switch {
		case vars[name] != "":
			err = errors.Join(err, fmt.Errorf("%s is set, and the file %s has it, too: keep one of them", name, place))
			continue
		case fault != nil:
			err = errors.Join(err, fmt.Errorf("%s: the file with it cannot be used: %w", name, fault))
			continue
		case strings.HasSuffix(name, inFile):
			value = place
		}
		vars[name], files = value, append(files, place)
	}
	return files, err
}

// readSecret returns the absolute path of a file, and what it contains without the line break at its end.
func readSecret(file string) (place, value string, err error) {
	if place, err = filepath.Abs(file); err != nil {
		return file, "", err
	}
	text, err := os.ReadFile(place)
	value = strings.TrimRight(string(text), "\r\n")
	switch {
	case err != nil:
	case value == "":
		err = fmt.Errorf("%s is empty", place)
	case strings.ContainsRune(value, 0):
		err = fmt.Errorf("%s contains a NUL character", place)
	}
	return place, value, err
}

// aVariable matches the names of variables as opposed to those of other files.
var aVariable = lazy.Regexp(`^[A-Z][A-Z0-9_]*$`)

// credentials returns the files with the names of variables in a directory, by these names; none if dir is empty.
// systemd puts what LoadCredential= names there, and a volume of a Kubernetes secret looks the same.
func credentials(dir string) (map[string]string, error) {
	places := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil && dir != "" {
		return places, fmt.Errorf("CREDENTIALS_DIRECTORY: %w", err)
	}
	for _, entry := range entries {
		if aVariable().MatchString(entry.Name()) {
			places[entry.Name()] = filepath.Join(dir, entry.Name())
		}
	}
	return places, nil
}
