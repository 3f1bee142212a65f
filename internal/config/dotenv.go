package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
	"github.com/joho/godotenv"

	"ringback/internal/spelling"
)

// dotenv is the file in the working directory that the server reads in addition to the
// environment.
const dotenv = ".env"

// LoadServer reads the environment and the file .env in dir, and reports all errors at
// once. A variable of the environment wins over one of the file, even if it is empty.
//
// Variables of the file are stored in the Config only, not in the environment of this
// process, so neither child processes nor /proc expose them.
func LoadServer(dir string) (Config, error) {
	real := env.ToMap(os.Environ())
	file := filepath.Join(dir, dotenv)
	vars, err := readDotenv(file)
	if errors.Is(err, fs.ErrNotExist) {
		vars, file, err = nil, "", nil
	}
	if err != nil {
		return Config{}, err
	}
	if vars == nil {
		vars = map[string]string{}
	}
	names := slices.Sorted(maps.Keys(vars))
	maps.Copy(vars, real)
	c, err := LoadFrom(vars)
	delete(vars, "API_KEYS") // only their digests are kept
	c.EnvFile, c.EnvFileNames, c.Environ = file, names, environ(vars)
	err = errors.Join(misspelt(names), err)
	if err != nil && file != "" {
		err = fmt.Errorf("%w\n(%s was read too)", err, file)
	}
	return c, err
}

// misspelt returns an error for each name that is not a setting but is close to one: with a
// misspelt API_KEYS_FILE, the server would be open to everyone.
func misspelt(names []string) error {
	var faults []error
	for _, name := range names {
		if slices.Contains(Variables(), name) {
			continue
		}
		if meant := spelling.Nearest(strings.TrimPrefix(name, "RINGBACK_"), Variables()); meant != "" {
			faults = append(
				faults,
				fmt.Errorf(
					"%s in %s is not a setting: did you mean %s? A variable of another program belongs in another file", name, dotenv,
					meant,
				),
			)
		}
	}
	return errors.Join(faults...)
}

// environ formats variables as the environment of a process.
func environ(vars map[string]string) []string {
	list := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, name+"="+vars[name])
	}
	return list
}

// readDotenv reads a .env file. It returns fs.ErrNotExist if there is none, or if it is a
// directory, such as Python's virtual environments.
func readDotenv(file string) (map[string]string, error) {
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		return nil, fs.ErrNotExist
	}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", file, errors.Unwrap(err))
	}
	vars, err := parseDotenv(string(text))
	if err != nil { // the library's message would quote the file
		return nil, fmt.Errorf(
			"%s, line %d: want NAME=value, with the value in closed quotes or in none", file, faultyLine(string(text)),
		)
	}
	return vars, nil
}

var errDotenv = errors.New("not a variable")

// parseDotenv also rejects variables that no process could be given.
func parseDotenv(text string) (map[string]string, error) {
	vars, err := godotenv.Unmarshal(strings.TrimPrefix(text, "\ufeff"))
	for name, value := range vars {
		if name == "" || strings.ContainsRune(name+value, 0) {
			return nil, errDotenv
		}
	}
	return vars, err
}

// faultyLine returns the line of the first error: the line after the longest prefix that
// parses.
func faultyLine(text string) int {
	lines := strings.SplitAfter(text, "\n")
	for n := len(lines) - 1; n > 0; n-- {
		if _, err := parseDotenv(strings.Join(lines[:n], "")); err == nil {
			return n + 1
		}
	}
	return 1
}
