package claude_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ringback/internal/claude"
	"ringback/test/must"
)

// Another login is detected as another account at the next query; other changes that the CLI
// makes to its files are not.
func TestSignInIsLookedAtAnew(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	environ := []string{"HOME=" + home}
	file := filepath.Join(home, ".claude.json")
	at := time.Now().Add(-time.Hour)
	login := func(text string) {
		t.Helper()
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		at = at.Add(time.Second)
		must.OK(t, os.Chtimes(file, at, at))
	}
	login(`{"oauthAccount":{"accountUuid":"a","organizationUuid":"o"}}`)
	s := claude.NewSignIn(environ)
	first := s.Account()
	must.Equal(t, claude.Account(environ), first)
	login(`{"oauthAccount":{"accountUuid":"b","organizationUuid":"o"}}`)
	second := s.Account()
	if second == first {
		t.Error("another login is not noticed")
	}
	login(`{"oauthAccount":{"accountUuid":"b","organizationUuid":"o"},"numStartups":2}`)
	must.Equal(t, second, s.Account(), "the same login is taken for another")
	must.OK(t, os.Remove(file))
	if got := s.Account(); got == first || got == second {
		t.Errorf("logged out, it is %s", got)
	}
	withKey := claude.NewSignIn([]string{"HOME=" + home, "ANTHROPIC_API_KEY=x"})
	before := withKey.Account()
	login(`{"oauthAccount":{"accountUuid":"c"}}`)
	must.Equal(t, before, withKey.Account(), "with a key, a login counts")
}
