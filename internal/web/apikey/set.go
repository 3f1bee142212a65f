package apikey

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"
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
