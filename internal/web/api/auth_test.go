package api_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ringback/internal/job"
	"ringback/internal/web/api"
	"ringback/test/must"
)

// signed returns a token with these claims, signed by a method with a secret.
func signed(t *testing.T, method jwt.SigningMethod, secret string, claims jwt.MapClaims) string {
	t.Helper()
	var key any = []byte(secret)
	if method == jwt.SigningMethodNone {
		key = jwt.UnsafeAllowNoneSignatureType
	}
	return must.Get(jwt.NewWithClaims(method, claims).SignedString(key))(t)
}

// written returns a token with claims as they are written.
func written(t *testing.T, claims string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	signature := must.Get(jwt.SigningMethodHS256.Sign(text, []byte(jwtSecret)))(t)
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// respelt returns a token whose last letter differs in bits that are not used.
func respelt(token string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(letters, token[len(token)-1])
	return token[:len(token)-1] + letters[last^1:][:1]
}

func TestWhoIsLetIn(t *testing.T) {
	t.Parallel()
	soon, past := time.Now().Add(time.Hour).Unix(), time.Now().Add(-time.Hour).Unix()
	hs := jwt.SigningMethodHS256
	token := func(claims jwt.MapClaims) string { return signed(t, hs, jwtSecret, claims) }
	open, keys, tokens := api.Options{}, api.Options{Keys: keysOf("before", apiKey, "behind")}, api.Options{JWTSecret: jwtSecret}
	for name, row := range map[string]struct {
		opts       api.Options
		credential string
		// refused is why the credential is rejected; empty if it is accepted.
		refused string
	}{
		"open, anyone is":                    {open, "", ""},
		"open, a key is not looked at":       {open, "whatever", ""},
		"an API key is":                      {keys, apiKey, ""},
		"without a key nobody is":            {keys, "", "no key or token was sent"},
		"a wrong key is not":                 {keys, "wrong", "the key is not in API_KEYS"},
		"the beginning of a key is not":      {keys, apiKey[:5], "the key is not in API_KEYS"},
		"a token is not where none counts":   {keys, token(jwt.MapClaims{"sub": "u1", "exp": soon}), "JWT_SECRET is not set"},
		"a token is":                         {tokens, token(jwt.MapClaims{"sub": "u1", "exp": soon}), ""},
		"a key is not where none counts":     {tokens, apiKey, "malformed"},
		"both may be, a key":                 {locked, apiKey, ""},
		"both may be, what is neither":       {locked, "wrong", "malformed as a token, and is not a key in API_KEYS"},
		"both may be, a token":               {locked, token(jwt.MapClaims{"sub": "u1", "exp": soon}), ""},
		"a token that has expired is not":    {locked, token(jwt.MapClaims{"sub": "u1", "exp": past}), "the token expired at"},
		"a token for ever is not":            {locked, token(jwt.MapClaims{"sub": "u1"}), "has no exp"},
		"a token of nobody is not":           {locked, token(jwt.MapClaims{"exp": soon}), "has no sub"},
		"a token of ours is not":             {locked, token(jwt.MapClaims{"sub": job.ReservedUserPrefix + "x", "exp": soon}), "not a valid userId"},
		"a token before its time is not":     {locked, token(jwt.MapClaims{"sub": "u1", "exp": soon, "nbf": soon}), "is not valid before"},
		"a token of another secret is not":   {locked, signed(t, hs, "another", jwt.MapClaims{"sub": "u1", "exp": soon}), "wrong signature"},
		"a token of another method is not":   {locked, signed(t, jwt.SigningMethodHS512, jwtSecret, jwt.MapClaims{"sub": "u1", "exp": soon}), "wrong signature"},
		"a token without signature is not":   {locked, signed(t, jwt.SigningMethodNone, "", jwt.MapClaims{"sub": "u1", "exp": soon}), "wrong signature"},
		"a token from the future is not":     {locked, token(jwt.MapClaims{"sub": "u1", "exp": soon, "iat": soon - 600}), "iat is ahead"},
		"a token of a clock that is fast is": {locked, token(jwt.MapClaims{"sub": "u1", "exp": soon, "iat": time.Now().Add(20 * time.Second).Unix()}), ""},
		"a token of two users is not":        {locked, written(t, fmt.Sprintf(`{"sub":"u1","sub":"u2","exp":%d}`, soon)), "a name occurs twice"},
		"nor one that writes them otherwise": {locked, written(t, fmt.Sprintf(`{"sub":"u1","\u0073ub":"u2","exp":%d}`, soon)), "a name occurs twice"},
		"nor one with capitals":              {locked, written(t, fmt.Sprintf(`{"Sub":"u2","exp":%d}`, soon)), "in upper case"},
		"nor with a letter like one":         {locked, written(t, fmt.Sprintf(`{"sub":"u1","ſub":"u2","exp":%d}`, soon)), "in upper case"},
		"a token with another last letter":   {locked, respelt(token(jwt.MapClaims{"sub": "u1", "exp": soon})), "malformed"},
		"a token with padding":               {locked, token(jwt.MapClaims{"sub": "u1", "exp": soon}) + "=", "malformed"},
		"what only looks like a token isn't": {locked, "a.b.c", "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startServer(t, row.opts).as(row.credential, "GET", "/api/jobs", nil)
			if row.refused == "" {
				must.Equal(t, http.StatusOK, a.Status, a.Body)
				return
			}
			if a.Status != http.StatusUnauthorized || !strings.Contains(a.text("error"), row.refused) {
				t.Errorf("answered %d %v, want 401 … %s", a.Status, a.Body, row.refused)
			}
			challenge := a.Header.Get("WWW-Authenticate")
			if !strings.HasPrefix(challenge, `Bearer realm="ringback"`) || row.credential != "" && !strings.Contains(challenge, `error="invalid_token"`) {
				t.Errorf("the challenge is %s", challenge)
			}
			if row.credential != "" && strings.Contains(a.text("error")+challenge, row.credential) {
				t.Error("the answer shows what was sent")
			}
		})
	}
}

// A key in another header is not read, and the answer names the header.
func TestAKeyInAnotherHeader(t *testing.T) {
	t.Parallel()
	s := startServer(t, locked)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/jobs", http.NoBody)
	r.Header.Set("X-API-Key", apiKey)
	w := httptest.NewRecorder()
	s.http.ServeHTTP(w, r)
	must.Equal(t, http.StatusUnauthorized, w.Code)
	must.Contain(t, w.Body.String(), "the header X-Api-Key is not read")
	must.NotContain(t, w.Body.String(), apiKey)
}

// To another user, a job does not exist.
func TestWhatIsSomebodyElses(t *testing.T) {
	t.Parallel()
	s := startServer(t, locked)
	id := string(s.create(apiKey, "note", "u1"))
	mine, theirs := tokenOf(t, "u1"), tokenOf(t, "u2")
	for _, row := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/api/jobs/" + id, nil},
		{"GET", "/api/jobs/" + id + "/events", nil},
		{"GET", "/api/jobs/" + id + "/transcript", nil},
		{"GET", "/api/jobs/" + id + "/files", nil},
		{"GET", "/api/jobs/" + id + "/files/x", nil},
		{"GET", "/api/jobs/" + id + "/diff", nil},
		{"GET", "/api/jobs/" + id + "/logs", nil},
		{"GET", "/api/jobs/" + id + "/steering", nil},
		{"GET", "/api/jobs/" + id + "/audit", nil},
		{"POST", "/api/jobs/" + id + "/steer", object{"prompt": "x"}},
		{"POST", "/api/jobs/" + id + "/cancel", nil},
		{"POST", "/api/jobs/" + id + "/retry", nil},
		{"POST", "/api/jobs/" + id + "/approve", nil},
		{"POST", "/api/jobs/" + id + "/reject", nil},
		{"GET", "/hitl/runs/" + id, nil},
		{"GET", "/api/sessions/s-u1/messages", nil},
	} {
		s.wants(http.StatusNotFound, theirs, row.method, row.path, row.body)
	}
	for credential, want := range map[string]int{mine: 1, theirs: 0, apiKey: 1} {
		jobs, _ := s.as(credential, "GET", "/api/jobs", nil).Body["jobs"].([]any)
		must.Equal(t, want, len(jobs), "a list shows … jobs")
	}
	s.wants(http.StatusOK, mine, "GET", "/api/jobs/"+id, nil)
}

func TestForWhomACallerActs(t *testing.T) {
	t.Parallel()
	s := startServer(t, locked)
	for name, row := range map[string]struct {
		credential, named string
		status            int
		owner             string
	}{
		"a person for themselves":            {tokenOf(t, "u1"), "", 202, "u1"},
		"a person who says so":               {tokenOf(t, "u1"), "u1", 202, "u1"},
		"a person for somebody else":         {tokenOf(t, "u1"), "u2", 403, ""},
		"a back end for whom it names":       {apiKey, "u2", 202, "u2"},
		"a back end for nobody":              {apiKey, "", 400, ""},
		"a back end for ourselves":           {apiKey, job.ReservedUserPrefix + "reader:u1", 400, ""},
		"a back end for what cannot be seen": {apiKey, "u\u200b1", 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.as(row.credential, "POST", "/api/jobs", object{"kind": "note", "input": object{}, "userId": row.named})
			if a.Status != row.status {
				t.Fatalf("answered %d %v, want %d", a.Status, a.Body, row.status)
			}
			if row.owner == "" {
				return
			}
			must.Equal(t, row.owner, s.as(apiKey, "GET", "/api/jobs/"+a.text("requestId"), nil).text("userId"), "the owner of the job")
		})
	}
}

// A back end acts for all users, so it must name the user it acts for.
func TestABackEndNamesItsUser(t *testing.T) {
	t.Parallel()
	s := startServer(t, locked)
	for name, row := range map[string]struct {
		method, path string
		body         any
		says         string
	}{
		"a job":                  {"POST", "/api/jobs", object{"kind": "note", "input": object{}}, "the user of the job"},
		"suggestions":            {"POST", "/api/suggestions", object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-02"}, "the user of the job"},
		"a message":              {"POST", "/to-llm", object{"sessionId": "s1", "content": "x"}, "the user of the message"},
		"a message of its own":   {"POST", "/from-llm", object{"sessionId": "s1", "content": "x"}, "the user of the message"},
		"a list of approvals":    {"GET", "/api/approvals", nil, "the user of the approval"},
		"an approval taken back": {"DELETE", "/api/approvals/x", nil, "the user of the approval"},
	} {
		a := s.as(apiKey, row.method, row.path, row.body)
		if a.Status != http.StatusBadRequest || !strings.Contains(a.details()["/userId"], row.says) {
			t.Errorf("%s: answered %d %v, want 400 that asks %s", name, a.Status, a.Body, row.says)
		}
	}
	if a := s.as(apiKey, "POST", "/hitl/runs", object{"prompt": "x", "agent_tool_config": object{"kind": "note"}}); !strings.Contains(a.details()["/user_id"], "the user of the job") {
		t.Errorf("a run: answered %d %v", a.Status, a.Body)
	}
}

func TestWhatOnlyBackEndsMayDo(t *testing.T) {
	t.Parallel()
	opts := locked
	opts.ReloadKinds = func() (job.KindsReload, error) { return job.KindsReload{}, nil }
	s := startServer(t, opts)
	token := tokenOf(t, "u1")
	id := string(s.create(token, "note", "u1"))
	for _, row := range []struct {
		method, path string
		body         any
	}{
		{"POST", "/from-llm", object{"sessionId": "s1", "content": "x"}},
		{"GET", "/api/jobs/" + id + "/callback", nil},
		{"GET", "/api/stats", nil},
		{"POST", "/api/kinds/reload", nil},
		{"POST", "/api/jobs", object{"kind": "note", "input": object{}, "options": object{"simulate": "manual"}}},
	} {
		s.wants(http.StatusForbidden, token, row.method, row.path, row.body)
		if a := s.as(apiKey, row.method, row.path, row.body); a.Status == http.StatusForbidden || a.Status == http.StatusUnauthorized {
			t.Errorf("%s %s by a back end was answered %d %v", row.method, row.path, a.Status, a.Body)
		}
	}
}

// In open mode, a page of another site could act for the user who opens it.
func TestPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	s := startServer(t, api.Options{CORSOrigins: []string{"https://app.example"}})
	for name, row := range map[string]struct {
		method, origin, site string
		status               int
	}{
		"a page of another site may not act": {"POST", "https://evil.example", "cross-site", 403},
		"a page that is named may":           {"POST", "https://app.example", "cross-site", 202},
		"a program without a page may":       {"POST", "", "", 202},
		"looking is the browser's to refuse": {"GET", "https://evil.example", "cross-site", 200},
	} {
		t.Run(name, func(t *testing.T) {
			var headers []string
			if row.origin != "" {
				headers = []string{"Origin", row.origin, "Sec-Fetch-Site", row.site}
			}
			var body any
			if row.method == "POST" {
				body = object{"kind": "note", "input": object{}}
			}
			a := s.as("", row.method, "/api/jobs", body, headers...)
			must.Equal(t, row.status, a.Status, a.Body)
			if allowed := a.Header.Get("Access-Control-Allow-Origin"); (allowed != "") != (row.origin == "https://app.example") {
				t.Errorf("its browser is told to show the answer to %q", allowed)
			}
		})
	}
}

// A user cannot take the name of a session from the back ends, or learn that another user has one of it.
func TestANameOfASessionIsItsUsers(t *testing.T) {
	t.Parallel()
	s := startServer(t, locked)
	mine, theirs := tokenOf(t, "u1"), tokenOf(t, "u2")
	create := func(credential, user, session string) object {
		body := object{"kind": "note", "input": object{}, "sessionId": session}
		if user != "" {
			body["userId"] = user
		}
		return s.wants(http.StatusAccepted, credential, "POST", "/api/jobs", body)
	}
	userOf := func(credential, session, query string) any {
		page := s.wants(http.StatusOK, credential, "GET", "/api/sessions/"+session+"/messages"+query, nil)
		return page["messages"].([]any)[0].(object)["userId"]
	}
	first := s.wants(http.StatusAccepted, mine, "POST", "/api/jobs", object{"kind": "note", "input": object{}})
	own := first["sessionId"].(string)
	create(theirs, "", "order-1")
	create(theirs, "", own)
	s.wants(http.StatusNotFound, apiKey, "GET", "/api/sessions/order-1/messages", nil)
	must.Equal(t, any("u2"), userOf(apiKey, "order-1", "?userId=u2"))
	must.Equal(t, any("u1"), userOf(apiKey, own, ""), "of the session that Ringback has named")
	create(apiKey, "u1", "order-1")
	must.Equal(t, any("u1"), userOf(apiKey, "order-1", ""))
	must.Equal(t, any("u2"), userOf(theirs, "order-1", ""))
	create(apiKey, "u3", "order-1")
	s.wants(http.StatusConflict, apiKey, "GET", "/api/sessions/order-1/messages", nil)

	ended := create(apiKey, "u1", "ended")
	s.wants(http.StatusOK, apiKey, "POST", "/api/jobs/"+ended["requestId"].(string)+"/cancel", nil)
	create(apiKey, "u1", "running")
	for _, name := range []string{"running", "ended", "none"} {
		s.wants(http.StatusNotFound, theirs, "GET", "/api/sessions/"+name+"/messages", nil)
		s.wants(http.StatusForbidden, theirs, "GET", "/api/sessions/"+name+"/messages?userId=u1", nil)
		s.wants(http.StatusNotFound, theirs, "POST", "/to-llm", object{"sessionId": name, "content": "Hello"})
		s.wants(http.StatusForbidden, theirs, "POST", "/to-llm", object{"sessionId": name, "content": "Hello", "userId": "u1"})
		s.wants(http.StatusForbidden, theirs, "POST", "/from-llm", object{"sessionId": name, "content": "Hello", "userId": "u2"})
	}
	for _, name := range []string{"running", "ended", "none"} {
		must.Equal(t, any(name), create(theirs, "", name)["sessionId"])
		must.Equal(t, any("u2"), userOf(theirs, name, ""))
		s.wants(http.StatusForbidden, theirs, "POST", "/api/jobs", object{"kind": "note", "input": object{}, "sessionId": name, "userId": "u1"})
	}
	must.Equal(t, any("u1"), userOf(apiKey, "running", ""))
	s.wants(http.StatusNotFound, apiKey, "GET", "/api/sessions/none/messages", nil)
}
