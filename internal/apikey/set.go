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

// Set holds the keys in force: those that it was made with, and those of a file, which is
// read again when it changes.
type Set struct {
	fixed []Key
	file  string
	now   atomic.Pointer[reading]
}

// reading is what was read of the file. It is replaced as a whole: a request sees the
// keys before, or the keys after.
type reading struct {
	// keys are all in force, those that are not of the file among them.
	keys []Key
	// text is what they were read of.
	text []byte
	// written is when the file was written last; zero where there is none.
	written time.Time
	// fault says what is wrong with the file as it is now; nil while the keys are its.
	fault error
}

// Open reads a file of keys, which must hold some; "" for none. The fixed keys are in
// force beside them.
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

// with puts keys of the file behind the fixed ones, whose array stays as it is.
func (s *Set) with(seen reading) *reading {
	return &reading{keys: append(slices.Clip(s.fixed), seen.keys...), text: seen.text}
}

// maxFile is the most bytes of a file of keys.
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
	if info, err := file.Stat(); err == nil { // before it is read: a later write is a later time
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

// Find returns the key that somebody sent. It looks at all of them, whichever it is, so
// that the time tells nothing. known is false for what is no key; a key that has expired
// is known, and the error says so.
func (s *Set) Find(sent string) (k Key, known bool, err error) {
	digest := sha256.Sum256([]byte(sent))
	for _, one := range s.now.Load().keys {
		if subtle.ConstantTimeCompare(digest[:], one.Digest[:]) == 1 {
			k, known = one, true
		}
	}
	if known && k.expired(time.Now()) {
		return k, true, fmt.Errorf("the key has expired at %s", k.Expires.Format(time.RFC3339))
	}
	return k, known, nil
}

// Until says until when a key that was found counts, as things are now: zero for ever. ok
// is false once it was removed, renamed or has expired.
func (s *Set) Until(found Key) (until time.Time, ok bool) {
	for _, one := range s.now.Load().keys {
		if one.Digest == found.Digest && one.Name == found.Name {
			return one.Expires, !one.expired(time.Now())
		}
	}
	return time.Time{}, false
}

// Where names the variables that hold the keys, for messages.
func (s *Set) Where() string {
	switch {
	case s.file == "":
		return "API_KEYS"
	case len(s.fixed) == 0:
		return "API_KEYS_FILE"
	}
	return "API_KEYS and API_KEYS_FILE"
}

// Len is how many keys are in force.
func (s *Set) Len() int { return len(s.now.Load().keys) }

// Expired are the names of keys that count no more.
func (s *Set) Expired() (names []string) {
	for _, k := range s.now.Load().keys {
		if k.expired(time.Now()) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Fault says what is wrong with the file as it is now, while the keys that were read
// before are still in force; nil for nothing.
func (s *Set) Fault() error { return s.now.Load().fault }

// Watch looks at the file as often as every says, until ctx ends, and calls changed after
// its keys have changed, or have become unreadable or readable again.
//
// What is read counts once it was read twice, with no write between: a file that is just
// being written holds a part of its keys for a moment, or nothing, and nobody is to be
// turned away for that, also where it is written again and again.
func (s *Set) Watch(ctx context.Context, every time.Duration, changed func()) {
	if s.file == "" {
		return
	}
	before := reading{text: s.now.Load().text}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every): // in full, also where this one is late: two looks in a row may see one half-written file
		}
		seen := s.read()
		if seen.same(&before) && s.take(seen) {
			changed()
		}
		before = seen
	}
}

// take puts what was read in force, and reports whether that is something new.
func (s *Set) take(seen reading) bool {
	now := s.now.Load()
	switch {
	case seen.fault != nil:
		fault := fmt.Errorf("API_KEYS_FILE %s: %w", s.file, seen.fault)
		if now.fault != nil && now.fault.Error() == fault.Error() {
			return false
		}
		s.now.Store(&reading{keys: now.keys, text: now.text, fault: fault})
		return true
	case now.fault == nil && bytes.Equal(seen.text, now.text):
		return false
	}
	s.now.Store(s.with(seen))
	return true
}

// same reports whether the file was found as it was before, and was not written since.
func (r *reading) same(before *reading) bool {
	if !r.written.Equal(before.written) {
		return false
	}
	if r.fault != nil && before.fault != nil {
		return r.fault.Error() == before.fault.Error()
	}
	return r.fault == nil && before.fault == nil && bytes.Equal(r.text, before.text)
}
