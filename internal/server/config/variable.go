package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"ringback/internal/job/limit"
	"ringback/internal/text/lazy"
	"ringback/internal/text/spelling"
)

// Variables lists every environment variable that Config reads.
func Variables() []string { return slices.Clone(variables()) }

var variables = sync.OnceValue(func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if name := variableOf(f.Name); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
})

// known are all names that have an effect: settings, and those of files with secrets.
var known = sync.OnceValue(func() []string {
	names := Variables()
	for _, secret := range secretSettings() {
		names = append(names, secret+inFile)
	}
	return names
})

func variableOf(field string) string {
	f, ok := reflect.TypeFor[Config]().FieldByName(field)
	if !ok {
		return field
	}
	name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
	return name
}

// prefix begins the names of variables that only Ringback reads.
const prefix = "RINGBACK_"

// planned are settings of later versions. Whoever adds one takes it from this list.
var planned = []string{
	"OIDC_CLIENT_ID", "OIDC_ISSUER", "PEOPLE_FILE", "SLACK_API_URL", "SLACK_APP_TOKEN",
	"SLACK_BOT_TOKEN", "SLACK_CHANNEL", "SMTP_URL",
}

// serviceLink matches what Kubernetes sets in each container for a service named ringback, or
// ringback-something.
var serviceLink = lazy.Regexp(`^RINGBACK_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_[A-Z]+(_(PROTO|PORT|ADDR))?)?)$`)

// ofJob is set in every process that Ringback starts, next to others with its prefix.
const ofJob = prefix + "PROCESS"

// Unread returns what to know about variables that are set and have no effect. misspelt is about
// those that are meant for Ringback, by their names. others are further variables of the .env file.
// usedFunc reports whether a program that the server starts uses a variable.
func (c Config) Unread(usedFunc func(name string) bool) (misspelt, others []string) {
	inJob := false
	names := make([]string, len(c.Environ))
	for i, entry := range c.Environ {
		names[i], _, _ = strings.Cut(entry, "=")
		inJob = inJob || names[i] == ofJob
	}
	for i, name := range names {
		switch inFile := slices.Contains(c.EnvFileNames, name); {
		case slices.Contains(variables(), name), usedFunc(name), strings.HasSuffix(c.Environ[i], "=") && !inFile:
		case slices.Contains(planned, name):
			misspelt = append(misspelt, name+" is set, but this version has no such setting: it has no effect")
		case meant(name) != "":
			text := notASetting(name)
			if !strings.HasPrefix(name, prefix) {
				text += " If it is another program's, ignore this."
			}
			misspelt = append(misspelt, text)
		case strings.HasPrefix(name, prefix) && !inJob && !serviceLink().MatchString(name):
			misspelt = append(misspelt, name+" is not a setting of this version: it has no effect")
		case inFile:
			others = append(others, name)
		}
	}
	return misspelt, others
}

// meant returns the setting that a name may be a misspelling of; "" if there is none.
func meant(name string) string {
	if serviceLink().MatchString(name) {
		return ""
	}
	return spelling.NearestVariable(name, prefix, known())
}

func notASetting(name string) string {
	return fmt.Sprintf("%s is not a setting, so it has no effect: did you mean %s?", name, meant(name))
}

// refused returns an error for each name that is not a setting but is close to one, if a server
// must not start with it.
//
// The .env file is for Ringback, so no name in it may be misspelt. An environment holds variables of
// other programs too, and WORKER or REDIS_URI must not keep a server from starting; Unread returns
// them as warnings. The exception are the settings without which the server is open to every process
// here and to every client of a proxy in front of it; but API_KEY is what programs of all sorts read.
func (c Config) refused() (faults []error) {
	for _, entry := range c.Environ {
		name, value, _ := strings.Cut(entry, "=")
		setting := meant(name)
		switch {
		case setting == "" || slices.Contains(variables(), name):
		case slices.Contains(c.EnvFileNames, name):
			faults = append(faults, fmt.Errorf("%s: %s A variable of another program belongs in another file", c.EnvFile, notASetting(name)))
		case value != "" && !c.Secured() && slices.Contains(access, setting) && name != "API_KEY":
			faults = append(faults, fmt.Errorf("%s Without a key or a secret, the server would be open: rename it, or unset it", notASetting(name)))
		}
	}
	return faults
}

// access are the settings that decide whether callers need a key or a token.
var access = []string{"API_KEYS", "API_KEYS_FILE", "JWT_SECRET", "JWT_SECRET" + inFile}

// Size is a number of bytes in the format of limit.Bytes; what 0 means depends on the
// variable.
type Size limit.Bytes

// UnmarshalText parses a size, or 0.
func (s *Size) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*s = 0
		return nil
	}
	return (*limit.Bytes)(s).UnmarshalText(text)
}

// ReduceEnvironment removes all variables from the environment of this process except those
// in the entries. The Config still contains what was read; processes started by us or by a
// library cannot inherit it.
func ReduceEnvironment(kept []string) error {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if slices.ContainsFunc(kept, func(k string) bool { return strings.HasPrefix(k, name+"=") }) {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}
