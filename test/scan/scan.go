package scan

import (
	"bytes"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"sync"

	"ringback/internal/job"
)

// least is the minimum length of a value to search for: shorter ones may be ordinary words.
const least = 8

// Scan is a search that runs while tests run; all tests may share one.
type Scan struct {
	mu      sync.RWMutex
	needles needles
	planted map[string]bool
	// digits contains the runs of hex digits seen that have the length of a turn's secret,
	// with their places, and longer the longer ones.
	digits, longer map[string]map[Place]bool

	watch watcher
}

// New returns a scan that does not know any secret yet.
func New() *Scan {
	return &Scan{planted: map[string]bool{}, digits: map[string]map[Place]bool{}, longer: map[string]map[Place]bool{}}
}

// PlantVariables plants the secrets among a server's variables: values of variables with
// names that suggest secrets, and passwords in URLs.
func (s *Scan) PlantVariables(variables map[string]string) {
	for name, value := range variables {
		sort := sortOf(name)
		for _, secret := range splitList(name, value) {
			if sort != "" {
				s.Plant(sort, name, secret)
			}
		}
		u, err := url.Parse(value)
		if err != nil || u.User == nil {
			continue
		}
		password, _ := u.User.Password()
		sort = OfServer
		if strings.HasSuffix(strings.ToUpper(name), "PROXY") {
			sort = OfNetwork
		}
		s.Plant(sort, "the password in "+name, password)
	}
}

// splitList splits the value of a variable that contains several.
func splitList(name, value string) []string {
	switch name {
	case "API_KEYS":
		return strings.Split(value, ",")
	case "WEBHOOK_SECRET":
		return strings.Fields(value)
	}
	return []string{value}
}

// Plant adds a known secret. name identifies it in reports.
func (s *Scan) Plant(sort Sort, name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(value) < least || s.planted[value] {
		return
	}
	s.planted[value] = true
	for encoding, text := range encodings(value) {
		s.needles.add(needle{text: text, sort: sort, name: name, encoding: encoding})
	}
}

// Look searches a text for planted secrets and for tokens, and remembers what may be the
// secret or the signature of a turn. It returns the secrets found in a forbidden place.
func (s *Scan) Look(p Place, text []byte) []string {
	leaks := s.search(p, text)
	if token.Match(text) && !p.mayHold(Token) {
		leaks = append(leaks, p.String()+": a user's token")
	}
	for run := range digitRuns(text) {
		s.remember(run, p)
	}
	slices.Sort(leaks)
	return slices.Compact(leaks)
}

// search returns the planted secrets found in a forbidden place.
func (s *Scan) search(p Place, text []byte) (leaks []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.needles.in(text, func(n needle) {
		if !p.mayHold(n.sort) {
			leaks = append(leaks, fmt.Sprintf("%s: %s, %s, %s", p, n.name, n.sort, n.encoding))
		}
	})
	return leaks
}

// longest is the maximum length of a run of digits that is remembered: a longer one is not
// a secret, but an attempt to use up space.
const longest = 1 << 16

func (s *Scan) remember(run string, p Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := s.digits
	switch {
	case len(run) > longest:
		return
	case len(run) > secretDigits:
		runs = s.longer
	}
	if runs[run] == nil {
		runs[run] = map[Place]bool{}
	}
	runs[run][p] = true
}

// turns returns the forbidden places where the secrets and signatures of turns were seen.
func (s *Scan) turns(secrets map[job.Secret]job.ID) (leaks []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for secret, id := range secrets {
		for value, sort := range map[string]Sort{string(secret): OfTurn, string(secret.Sign(id)): Signature} {
			for p := range s.seen(value) {
				if !p.mayHold(sort) {
					leaks = append(leaks, fmt.Sprintf("%s: the %s of %s", p, sort, id))
				}
			}
		}
	}
	slices.Sort(leaks)
	return slices.Compact(leaks)
}

// seen returns the places where a run of digits was seen, alone or as a part of a longer
// one.
func (s *Scan) seen(digits string) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for p := range s.digits[digits] {
			if !yield(p) {
				return
			}
		}
		for run, places := range s.longer {
			if !strings.Contains(run, digits) {
				continue
			}
			for p := range places {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// needle is one encoding of a secret.
type needle struct {
	text, name, encoding string
	sort                 Sort
}

// needles are all searched for in a single pass over a text.
type needles struct {
	// first contains the needles by their first three bytes, begins a bit for each first
	// two bytes.
	first  map[[3]byte][]needle
	begins [1 << 16]bool
}

func (ns *needles) add(n needle) {
	if ns.first == nil {
		ns.first = map[[3]byte][]needle{}
	}
	key := [3]byte([]byte(n.text))
	ns.first[key] = append(ns.first[key], n)
	ns.begins[int(key[0])<<8|int(key[1])] = true
}

// in calls found for each occurrence of a needle in a text.
func (ns *needles) in(text []byte, found func(needle)) {
	for i := 0; i+3 <= len(text); i++ {
		if !ns.begins[int(text[i])<<8|int(text[i+1])] {
			continue
		}
		for _, n := range ns.first[[3]byte(text[i:i+3])] {
			if bytes.HasPrefix(text[i:], []byte(n.text)) {
				found(n)
			}
		}
	}
}
