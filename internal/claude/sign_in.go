package claude

import (
	"os"
	"path/filepath"
	"sync"
	"time"
)

// SignIn is what the CLI signs in with: keys in its environment, or the login of its user,
// which may be another one at any time.
type SignIn struct {
	environ []string
	files   []string

	mu      sync.Mutex
	seen    [2]stamp
	account string
}

// stamp tells a file from what it was before.
type stamp struct {
	size     int64
	modified time.Time
}

// NewSignIn returns that of a CLI with an environment.
func NewSignIn(environ []string) *SignIn {
	u := userOf(environ)
	s := &SignIn{environ: environ, files: []string{u.account, filepath.Join(u.config, credentialsFile)}}
	s.seen, s.account = s.look(), Account(environ)
	return s
}

// Account is the account as Account names it, by what is signed in now.
func (s *SignIn) Account() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seen := s.look(); seen != s.seen {
		s.seen, s.account = seen, Account(s.environ)
	}
	return s.account
}

func (s *SignIn) look() (seen [2]stamp) {
	for i, file := range s.files {
		if info, err := os.Stat(file); err == nil {
			seen[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return seen
}
