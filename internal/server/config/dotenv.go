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
	"syscall"

	"github.com/caarlos0/env/v11"
	"github.com/joho/godotenv"
)

// dotenv is the file in the working directory that the server reads in addition to the
// environment.
const dotenv = ".env"

// LoadServer reads the environment and the file .env in dir, and reports all errors at
// once. A variable of the environment wins over one of the file, even if it is empty.
//
// Variables of the file are stored in the Config only, not in the environment of this
// process, so neither child processes nor /proc expose them.
func LoadServer(dir string) (Config, error) { return loadServer(dir, os.Environ()) }

func loadServer(dir string, environment []string) (Config, error) {
	real := env.ToMap(environment)
	file := filepath.Join(dir, dotenv)
	vars, err := readDotenv(file)
	if errors.Is(err, fs.ErrNotExist) {
		vars, file, err = map[string]string{}, "", nil
	}
	if err != nil {
		return Config{}, err
	}
	names := slices.Sorted(maps.Keys(vars))
	maps.Copy(vars, real)
	secretFiles, unreadable := readSecrets(vars)
	c, err := LoadFrom(vars)
	delete(vars, "API_KEYS") // only their digests are kept
	c.EnvPlace, c.EnvFile, c.EnvFileNames, c.Environ = filepath.Join(dir, dotenv), file, names, environ(vars)
	c.SecretFiles = secretFiles
	if err = errors.Join(errors.Join(c.refused()...), unreadable, err); err == nil {
		return c, nil
	}
	misspelt, _ := c.Unread(func(string) bool { return false }) // one may be what is missing
	for _, text := range misspelt {
		if name, _, _ := strings.Cut(text, " "); !strings.Contains(err.Error(), name+" is not a setting") {
			err = fmt.Errorf("%w\n(%s)", err, text)
		}
	}
	if file != "" {
		err = fmt.Errorf("%w\n(%s was read too)", err, file)
	}
	return c, err
}

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
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EISDIR):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", file, errors.Unwrap(err))
	}
	lines, faulty := linesOf(string(text))
	vars, err := parseDotenv(string(text))
	if err != nil { // the library's message would quote the file
		return nil, fmt.Errorf("%s, line %d: expected NAME=value, with the value in closed quotes or unquoted", file, faulty)
	}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		if at := lines[name]; len(at) > 1 {
			err = errors.Join(err, fmt.Errorf("%s: %s is set in line %d and again in line %d: keep one of them", file, name, at[0], at[1]))
		}
	}
	return vars, err
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

// linesOf returns the lines that set each variable, and the first line that cannot be parsed; 0 if
// there is none. A value in quotes may have several lines.
func linesOf(text string) (lines map[string][]int, faulty int) {
	lines = map[string][]int{}
	begin, all := 0, strings.SplitAfter(text, "\n")
	for end := range all {
		vars, err := parseDotenv(strings.Join(all[begin:end+1], ""))
		if err != nil {
			continue
		}
		for name := range vars {
			lines[name] = append(lines[name], begin+1)
		}
		begin = end + 1
	}
	if begin < len(all) {
		faulty = begin + 1
	}
	return lines, faulty
}
