package access

import (
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// What is wrong with a server is for back ends: neither users nor those who only ask whether it is ready learn it.
func TestOnlyBackEndsLearnWhatIsWrongWithAServer(t *testing.T) {
	t.Parallel()
	const key = "a-key-of-the-back-end"
	n := rig.Start(t, harness.Vars{"API_KEYS": key, "JWT_SECRET": rig.TokenSecret, "CLAUDE_BIN": "simulate", "SLACK_BOT_TOKEN": "x"})
	user := rig.Token(t, rig.TokenSecret, jwt.SigningMethodHS256, jwt.MapClaims{"sub": "u1", "exp": rig.In(time.Hour)})
	const wrong = "SLACK_BOT_TOKEN is set, but this version has no such setting"
	for name, c := range map[string]struct {
		key    string
		status int
	}{"a back end": {key, 200}, "a user": {user, 403}, "anyone": {"", 401}} {
		as := map[string]string{"Authorization": "Bearer " + c.key}
		reasons := harness.Exchange(t, n.URL, harness.Request{Method: "GET", Path: "/api/readiness", Header: as})
		must.Equal(t, c.status, reasons.Status, name)
		if c.status == 200 {
			must.Contain(t, reasons.Text, wrong, name)
		} else {
			must.NotContain(t, reasons.Text, wrong, name)
		}
		bare := harness.Exchange(t, n.URL, harness.Request{Method: "GET", Path: "/readyz", Header: as})
		must.Equal(t, 200, bare.Status, name)
		must.Equal(t, "", bare.Text, name)
	}
}
