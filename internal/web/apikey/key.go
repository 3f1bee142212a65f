package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringback/internal/text/lazy"
)

// Key is the stored form of a key.
type Key struct {
	// Name identifies the caller in logs and audit logs.
	Name   string
	Digest [sha256.Size]byte
	// Expires is the expiry time of the key; zero for never.
	Expires time.Time
}

// Of returns the stored form of an existing key.
func Of(name, text string) Key { return Key{Name: name, Digest: sha256.Sum256([]byte(text))} }

// prefix identifies a leaked key as one of Ringback's, for people and secret scanners.
const prefix = "rb_"

// New creates a key with 130 random bits, and returns it with its stored form.
func New(name string, expires time.Time) (text string, k Key) {
	text = prefix + rand.Text()
	k = Of(name, text)
	k.Expires = expires
	return text, k
}

// Line returns the key's line in a file of keys, without the newline.
func (k Key) Line() string {
	line := k.Name + " " + digestPrefix + hex.EncodeToString(k.Digest[:])
	if !k.Expires.IsZero() {
		line += " " + expiresPrefix + k.Expires.UTC().Format(time.RFC3339)
	}
	return line
}

func (k Key) expired(now time.Time) bool { return !k.Expires.IsZero() && !now.Before(k.Expires) }

// Add creates a key, appends its line to a file of keys, and returns the key. If the file
// does not exist, it is created, readable by its owner only. A file with errors is not
// changed.
func Add(file, name string, expires time.Time) (string, error) {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s cannot be read: %w", file, errors.Unwrap(err))
	}
	text, key := New(name, expires)
	addition := key.Line() + "\n"
	if len(before) > 0 && before[len(before)-1] != '\n' {
		addition = "\n" + addition
	}
	if _, err := Parse(append(before, addition...)); err != nil {
		return "", fmt.Errorf("nothing was added to %s:\n%w", file, err)
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", fmt.Errorf("%s cannot be written: %w", file, errors.Unwrap(err))
	}
	// A single write, so that a server reading concurrently sees all of it or nothing.
	_, err = out.WriteString(addition)
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be written: %w", file, errors.Unwrap(err))
	}
	return text, nil
}

// OthersMayWrite reports whether a file of keys is world-writable, so that any user of the
// machine could add a key.
func OthersMayWrite(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().Perm()&0o002 != 0
}

const (
	digestPrefix  = "sha256:"
	expiresPrefix = "expires="
)

var keyName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckName rejects a name that would be ambiguous in logs.
func CheckName(name string) error {
	if !keyName().MatchString(name) {
		return errors.New(
			"the name is invalid: expected 1 to 64 letters, digits, dots, hyphens and underscores, the first of them a letter or a digit",
		)
	}
	return nil
}

// Parse parses a file of keys and reports all errors by line. Errors do not quote the file,
// because it may contain a key by mistake.
func Parse(text []byte) ([]Key, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("it is not text in UTF-8")
	}
	var keys []Key
	var faults []error
	names, digests := map[string]int{}, map[[sha256.Size]byte]int{}
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		k, err := parseLine(fields)
		switch {
		case err != nil:
		case names[k.Name] > 0:
			err = fmt.Errorf("the name is also in line %d: give each key a unique name", names[k.Name])
		case digests[k.Digest] > 0:
			err = fmt.Errorf("the digest is also in line %d: each key must be unique", digests[k.Digest])
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", i+1, err))
			continue
		}
		names[k.Name], digests[k.Digest] = i+1, i+1
		keys = append(keys, k)
	}
	return keys, errors.Join(faults...)
}

// mistaken contains digests that are not of a key: of an empty text, as from an unset
// variable, and of a newline.
var mistaken = [][sha256.Size]byte{sha256.Sum256(nil), sha256.Sum256([]byte("\n"))}

func parseLine(fields []string) (Key, error) {
	k := Key{Name: fields[0]}
	if err := CheckName(k.Name); err != nil {
		return k, err
	}
	if len(fields) < 2 || len(fields) > 3 {
		return k, errors.New("expected a name, " + digestPrefix + "<64 hex digits>, and at most " + expiresPrefix + "<date>")
	}
	digits, ok := strings.CutPrefix(fields[1], digestPrefix)
	if !ok || hex.DecodedLen(len(digits)) != len(k.Digest) || len(digits)%2 != 0 {
		return k, errors.New("the digest is invalid: expected " + digestPrefix + "<64 hex digits>, the SHA-256 of the key")
	}
	if _, err := hex.Decode(k.Digest[:], []byte(digits)); err != nil {
		return k, errors.New("the digest is invalid: after " + digestPrefix + ", only hex digits are expected")
	}
	if slices.Contains(mistaken, k.Digest) {
		return k, errors.New("the digest is that of an empty key")
	}
	if len(fields) == 2 {
		return k, nil
	}
	return k, k.parseExpires(fields[2])
}

// parseExpires parses a time, or a date, which means its beginning in UTC.
func (k *Key) parseExpires(field string) error {
	text, ok := strings.CutPrefix(field, expiresPrefix)
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); ok && err == nil {
			k.Expires = at.UTC()
			return nil
		}
	}
	return errors.New("the third field is invalid: expected " + expiresPrefix + " and a date, such as " + expiresPrefix +
		"2027-01-31 or " + expiresPrefix + "2027-01-31T18:00:00Z")
}
