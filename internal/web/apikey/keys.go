package apikey

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"ringback/internal/text/lazy"
)

// Set contains the keys in force: the fixed ones and those of a file, which is reloaded
// when it changes.
type Set struct {
	fixed []Key
	file  string
	now   atomic.Pointer[reading]
}

// reading is the result of reading the file. It is replaced as a whole: a request sees
// either the old keys or the new ones.
type reading struct {
	// keys are all keys in force, including the fixed ones.
	keys []Key
	// text is the content that they were parsed from.
	text []byte
	// written is the file's modification time; zero if there is no file.
	written time.Time
	// fault describes what is wrong with the current file; nil if the keys are up to date.
	fault error
}

// Open reads a file of keys, which must contain at least one; "" for no file. The fixed
// keys are in force as well.
func Open(file string, fixed ...Key) (*Set, error) {
	s := &Set{fixed: fixed, file: file}
	s.now.Store(&reading{keys: fixed})
	if file == "" {
		return s, nil
	}
	seen := s.read()
	err := seen.fault
	if err == nil && len(seen.keys) == 0 {
		err = errors.New("it holds no key: add one with ringback key <name>")
	}
	if err != nil {
		return nil, fmt.Errorf("API_KEYS_FILE %s: %w", file, err)
	}
	s.now.Store(s.with(seen))
	return s, nil
}

// with returns the fixed keys and those of the file, without modifying the fixed keys'
// array.
func (s *Set) with(seen reading) *reading {
	return &reading{keys: append(slices.Clip(s.fixed), seen.keys...), text: seen.text}
}

// maxFile is the maximum size of a file of keys in bytes.
const maxFile = 1 << 20

func (s *Set) read() (seen reading) {
	unreadable := func(err error) reading {
		seen.fault = fmt.Errorf("it cannot be read: %w", errors.Unwrap(err))
		return seen
	}
	file, err := os.Open(s.file)
	if err != nil {
		return unreadable(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil { // before reading, so that a later write has a later time
		seen.written = info.ModTime()
	}
	seen.text, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return unreadable(err)
	case len(seen.text) > maxFile:
		seen.fault = fmt.Errorf("it is longer than %d bytes", maxFile)
	default:
		seen.keys, seen.fault = Parse(seen.text)
	}
	return seen
}

// Find returns the key that was sent. It compares all of them so that timing reveals
// nothing. known is false if there is no such key; for an expired key it is true and err is
// set.
func (s *Set) Find(sent string) (k Key, known bool, err error) {
	digest := sha256.Sum256([]byte(sent))
	for _, one := range s.now.Load().keys {
		if subtle.ConstantTimeCompare(digest[:], one.Digest[:]) == 1 {
			k, known = one, true
		}
	}
	if known && k.expired(time.Now()) {
		return k, true, fmt.Errorf("the key expired at %s", k.Expires.Format(time.RFC3339))
	}
	return k, known, nil
}

// Until returns when a key that Find returned expires, as configured now; zero for never.
// ok is false once the key was removed, renamed or has expired.
func (s *Set) Until(found Key) (until time.Time, ok bool) {
	for _, one := range s.now.Load().keys {
		if one.Digest == found.Digest && one.Name == found.Name {
			return one.Expires, !one.expired(time.Now())
		}
	}
	return time.Time{}, false
}

// Where returns the names of the variables that configure the keys, for messages.
func (s *Set) Where() string {
	switch {
	case s.file == "":
		return "API_KEYS"
	case len(s.fixed) == 0:
		return "API_KEYS_FILE"
	}
	return "API_KEYS and API_KEYS_FILE"
}

// Len returns the number of keys in force; 0 for a nil set.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.now.Load().keys)
}

// Expired returns the names of expired keys.
func (s *Set) Expired() (names []string) {
	for _, k := range s.now.Load().keys {
		if k.expired(time.Now()) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Fault describes what is wrong with the current file while the keys read before are still
// in force; nil if nothing is.
func (s *Set) Fault() error { return s.now.Load().fault }

// Watch checks the file at the given interval until ctx ends, and calls changed after its
// keys have changed, or have become unreadable or readable again.
//
// A change takes effect once it was read twice with no write in between: while a file is
// being written, even repeatedly, it may be empty or incomplete for a moment, and that must
// not lock out any caller.
func (s *Set) Watch(ctx context.Context, every time.Duration, changed func()) {
	if s.file == "" {
		return
	}
	before := reading{text: s.now.Load().text}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every): // never shorter, even if late: two quick reads could see the same half-written file
		}
		seen := s.read()
		if seen.same(&before) && s.apply(seen) {
			changed()
		}
		before = seen
	}
}

// apply puts what was read in force, and reports whether anything changed.
func (s *Set) apply(seen reading) bool {
	now, next := s.now.Load(), s.with(seen)
	if seen.fault != nil {
		next = &reading{keys: now.keys, text: now.text, fault: fmt.Errorf("API_KEYS_FILE %s: %w", s.file, seen.fault)}
	}
	if next.equals(now) {
		return false
	}
	s.now.Store(next)
	return true
}

// same reports whether the file was read with the same result and has not been written
// since.
func (r *reading) same(before *reading) bool {
	return r.written.Equal(before.written) && r.equals(before)
}

func (r *reading) equals(other *reading) bool {
	return fmt.Sprint(r.fault) == fmt.Sprint(other.fault) && (r.fault != nil || bytes.Equal(r.text, other.text))
}

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
