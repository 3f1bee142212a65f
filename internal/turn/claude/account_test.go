package claude_test

import (
	"os"
	"path/filepath"
	"testing"

	"ringback/internal/turn/claude"
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
		return accountOf(t, environ)
	}
	first := account(`{"oauthAccount":{"accountUuid":"a","organizationUuid":"o"}}`)
	byKey := accountOf(t, withKey)
	second := account(`{"oauthAccount":{"accountUuid":"b","organizationUuid":"o"}}`)
	if second == first {
		t.Error("another login is not noticed")
	}
	must.Equal(t, second, account(`{"oauthAccount":{"accountUuid":"b","organizationUuid":"o"},"numStartups":2}`))
	must.Equal(t, byKey, accountOf(t, withKey), "with a key, a login counts")
	must.OK(t, os.Remove(file))
	if got := accountOf(t, environ); got == first || got == second {
		t.Errorf("logged out, it is %s", got)
	}
}

func accountOf(t *testing.T, environ []string) string {
	t.Helper()
	return claude.Account(environ, must.Get(claude.Login(environ))(t))
}

// A file that cannot be read, or is just being written, says nothing about the login.
func TestALoginThatCannotBeRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, ".claude.json")
	must.OK(t, os.WriteFile(file, []byte(`{"oauthAccount":{"acc`), 0o600))
	must.Fail(t, second(claude.Login([]string{"HOME=" + home})), "unexpected end")
	must.OK(t, os.Remove(file))
	must.OK(t, os.Mkdir(file, 0o700))
	must.Fail(t, second(claude.Login([]string{"HOME=" + home})), "directory")
	must.OK(t, second(claude.Login([]string{"HOME=" + home, "ANTHROPIC_API_KEY=x"})))
}

func second(_ string, err error) error { return err }
