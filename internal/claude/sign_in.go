package claude

import (
	"os"
	"path/filepath"
	"sync"
	"time"
)

// SignIn holds the CLI's credentials: keys in its environment, or its user's login,
// which can change at any time.
type SignIn struct {
	environ []string
	files   []string

	mu      sync.Mutex
	seen    [2]stamp
	account string
}

// stamp shows whether a file has changed.
type stamp struct {
	size     int64
	modified time.Time
}

// NewSignIn returns the SignIn of a CLI with an environment.
func NewSignIn(environ []string) *SignIn {
	u := userOf(environ)
	s := &SignIn{environ: environ, files: []string{u.account, filepath.Join(u.config, credentialsFile)}}
	s.seen, s.account = s.stamps(), Account(environ)
	return s
}

// Account returns the current account, in the form that the function Account returns.
func (s *SignIn) Account() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seen := s.stamps(); seen != s.seen {
		s.seen, s.account = seen, Account(s.environ)
	}
	return s.account
}

func (s *SignIn) stamps() (seen [2]stamp) {
	for i, file := range s.files {
		if info, err := os.Stat(file); err == nil {
			seen[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return seen
}
