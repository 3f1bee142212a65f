package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringback/test/must"
)

const (
	secretText = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
	storeURL   = "redis://:s3cret-word@127.0.0.1:6379/0"
)

// files writes these texts into a new directory.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// valueOf returns what a server takes for the value of a variable.
func valueOf(c Config, name string) string {
	for _, entry := range c.Environ {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}

// Each secret can be in a file, under the name with _FILE and as a credential of the service manager.
func TestEachSecretCanBeInAFile(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Concat(secretSettings(), otherSecrets) {
		value := secretText
		if strings.HasSuffix(name, "_URL") {
			value = strings.Replace(storeURL, "redis", map[bool]string{true: "redis", false: "https"}[name == "REDIS_URL"], 1)
		}
		dir := files(t, map[string]string{name: value + "\n"})
		for how, environment := range map[string][]string{
			"a file": {name + "_FILE=" + filepath.Join(dir, name), name + "="}, "a credential": {"CREDENTIALS_DIRECTORY=" + dir},
		} {
			c, err := loadWith(t, environment, "")
			must.OK(t, err, name, how)
			must.Equal(t, value, valueOf(c, name), name, how)
			must.Equal(t, "", valueOf(c, name+"_FILE"), name, how, "is left for programs to read")
			must.Equal(t, []string{filepath.Join(dir, name)}, c.SecretFiles, name, how)
			misspelt, others := c.Unread(func(string) bool { return slices.Contains(otherSecrets, name) })
			must.Equal(t, 0, len(misspelt)+len(others), name, how, misspelt, others)
		}
	}
}

// A setting that is added later and holds a secret gets its file, too.
func TestEachSettingWithASecretIsMarked(t *testing.T) {
	t.Parallel()
	holds := regexp.MustCompile(`KEY|TOKEN|SECRET|PASSW|WEBHOOK_URL|REDIS_URL|SMTP_URL`)
	no := []string{"API_KEYS", "API_KEYS_FILE", "TOKEN_MAX_AGE", "RINGBACK_TOKEN"} // has a file; is one; a duration; of the command line
	for _, name := range Variables() {
		if holds.MatchString(name) && !slices.Contains(no, name) {
			must.Equal(t, true, slices.Contains(secretSettings(), name), name, `has no tag secret:"true"`)
		}
	}
}

func TestCredentialsOfAServiceManager(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"JWT_SECRET": secretText + "\r\n", "API_KEYS_FILE": "shop sha256:00\n", "DEPLOY_TOKEN": "of-an-action", "ca.crt": "another's", "WORKERS": "3",
	})
	link := t.TempDir() // as in a volume of a Kubernetes secret
	must.OK(t, os.Symlink(dir, filepath.Join(link, "..data")))
	for _, name := range []string{"JWT_SECRET", "API_KEYS_FILE", "DEPLOY_TOKEN", "WORKERS"} {
		must.OK(t, os.Symlink(filepath.Join("..data", name), filepath.Join(link, name)))
	}
	for _, dir := range []string{dir, link} {
		c := must.Get(loadWith(t, []string{"CREDENTIALS_DIRECTORY=" + dir}, ""))(t)
		must.Equal(t, secretText, c.JWTSecret)
		must.Equal(t, filepath.Join(dir, "API_KEYS_FILE"), c.APIKeysFile, "the file of keys is read again when it changes")
		must.Equal(t, "of-an-action", valueOf(c, "DEPLOY_TOKEN"))
		must.Equal(t, 3, c.Workers)
		must.Equal(t, true, slices.Contains(c.SecretFiles, filepath.Join(dir, "JWT_SECRET")), "the sandbox hides it")
	}
}

// No secret is left out without a word, and no message shows one.
func TestAFileOfASecretThatCannotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"empty": "\n", "binary": secretText + "\x00", "short": "short", "good": secretText, "JWT_SECRET": secretText})
	file := "JWT_SECRET_FILE=" + dir
	for says, environment := range map[string][]string{
		"JWT_SECRET: the file with it cannot be used: open " + dir + "/none: no such file": {file + "/none"},
		"JWT_SECRET: the file with it cannot be used: " + dir + "/empty is empty":          {file + "/empty"},
		dir + "/binary contains a NUL character":                                           {file + "/binary"},
		"is a directory":                                                                   {file},
		"JWT_SECRET: expected at least 32 characters":                                      {file + "/short"},
		"JWT_SECRET is set, and the file " + dir + "/good has it, too: keep one":           {file + "/good", "JWT_SECRET=" + secretText},
		"JWT_SECRET is set, and the file " + dir + "/JWT_SECRET has it, too: keep":         {"JWT_SECRET=" + secretText, "CREDENTIALS_DIRECTORY=" + dir},
		"CREDENTIALS_DIRECTORY: open " + dir + "/none: no such file":                       {"CREDENTIALS_DIRECTORY=" + dir + "/none"},
	} {
		_, err := loadWith(t, environment, "")
		must.Fail(t, err, says, environment)
		if err != nil {
			must.NotContain(t, err.Error(), secretText)
		}
	}
}
