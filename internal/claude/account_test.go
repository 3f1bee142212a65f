package claude_test

import (
	"os"
	"path/filepath"
	"testing"

	"ringback/internal/claude"
	"ringback/test/must"
)

// Another login is another account; other changes that the CLI makes to its files are not.
func TestAccountIsThatOfTheLogin(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	environ := []string{"HOME=" + home}
	withKey := []string{"HOME=" + home, "ANTHROPIC_API_KEY=x"}
	file := filepath.Join(home, ".claude.json")
	account := func(login string) string {
		t.Helper()
		must.OK(t, os.WriteFile(file, []byte(login), 0o600))
		return claude.Account(environ)
	}
	first := account(`{"oauthAccount":{"accountUuid":"a","organizationUuid":"o"}}`)
	byKey := claude.Account(withKey)
	second := account(`{"oauthAccount":{"accountUuid":"b","organizationUuid":"o"}}`)
	if second == first {
		t.Error("another login is not noticed")
	}
	must.Equal(t, second, account(`{"oauthAccount":{"accountUuid":"b","organizationUuid":"o"},"numStartups":2}`))
	must.Equal(t, byKey, claude.Account(withKey), "with a key, a login counts")
	must.OK(t, os.Remove(file))
	if got := claude.Account(environ); got == first || got == second {
		t.Errorf("logged out, it is %s", got)
	}
}
