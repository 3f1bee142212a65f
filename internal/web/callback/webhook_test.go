package callback_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/people/notify"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

// signedBy returns the headers of a Standard Webhook.
func signedBy(t *testing.T, key, id string, at time.Time, body []byte) http.Header {
	t.Helper()
	header := http.Header{"Content-Type": {"application/json"}}
	must.OK(t, must.Get(notify.ParseSecrets(key))(t).Sign(header, id, at, body))
	return header
}

// postWith posts a result with headers, and returns the status and the body of the answer.
func (t *turn) postWith(header http.Header, body []byte) (int, object) {
	t.t.Helper()
	r := httptest.NewRequestWithContext(t.t.Context(), http.MethodPost, "/api/claude/result", strings.NewReader(string(body)))
	r.Header = header
	w := httptest.NewRecorder()
	t.http.ServeHTTP(w, r)
	var answer object
	must.OK(t.t, json.Unmarshal(w.Body.Bytes(), &answer))
	return w.Code, answer
}

// A callback that is signed as a Standard Webhook is checked as one: its signature covers its body.
func TestCallbacksThatAreSignedAsWebhooks(t *testing.T) {
	t.Parallel()
	otherKey := strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		// change changes a callback that is signed with the turn's hmac.
		change func(header http.Header, body []byte) []byte
		hmac   string // "" for none, "ok" for the turn's
		want   int
	}{
		"signed":                                {nil, "", 200},
		"signed, and with its hmac":             {nil, "ok", 200},
		"signed, and with another hmac":         {nil, otherKey, 403},
		"several signatures, one of them ours":  {func(h http.Header, _ []byte) []byte { return sign(h, "v1a,xyz v1,AAAA "+h.Get(notify.HeaderSignature)) }, "", 200},
		"several signatures, none of them ours": {func(h http.Header, _ []byte) []byte { return sign(h, "v1a,xyz v1,AAAA") }, "", 403},
		"of another version":                    {func(h http.Header, _ []byte) []byte { return sign(h, "v2"+h.Get(notify.HeaderSignature)[2:]) }, "", 403},
		"an empty signature, with its hmac":     {func(h http.Header, _ []byte) []byte { return sign(h, "") }, "ok", 403},
		"no signature, with its hmac":           {func(h http.Header, _ []byte) []byte { h.Del(notify.HeaderSignature); return nil }, "ok", 403},
		"only a signature, with its hmac": {func(h http.Header, _ []byte) []byte {
			h.Del(notify.HeaderID)
			h.Del(notify.HeaderTimestamp)
			return nil
		}, "ok", 403},
		"another body":             {func(_ http.Header, body []byte) []byte { return []byte(strings.Replace(string(body), "A", "B", 1)) }, "", 403},
		"a blank more in the body": {func(_ http.Header, body []byte) []byte { return append(body, ' ') }, "", 403},
		"another id":               {func(h http.Header, _ []byte) []byte { h.Set(notify.HeaderID, "msg_2"); return nil }, "", 403},
		"another time":             {func(h http.Header, _ []byte) []byte { h.Set(notify.HeaderTimestamp, "1700000000"); return nil }, "ok", 403},
		"a time that is none":      {func(h http.Header, _ []byte) []byte { h.Set(notify.HeaderTimestamp, "today"); return nil }, "ok", 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, callback.Options{}).start("note")
			payload := object{"requestId": s.id, "title": "A"}
			if c.hmac == "ok" {
				payload["hmac"] = s.signature
			} else if c.hmac != "" {
				payload["hmac"] = c.hmac
			}
			body := must.Get(json.Marshal(payload))(t)
			header := signedBy(t, string(s.signature), "msg_1", time.Now(), body)
			if c.change != nil {
				if changed := c.change(header, body); changed != nil {
					body = changed
				}
			}
			status, answer := s.postWith(header, body)
			must.Equal(t, c.want, status, answer)
			must.Equal(t, c.want == 200, s.job().State == job.Received, "the result is accepted")
		})
	}
}

func sign(h http.Header, signature string) []byte {
	h.Set(notify.HeaderSignature, signature)
	return nil
}

// Old messages, the keys of others and ids that are used twice.
func TestWebhooksThatAreRepeated(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{}).start("note")
	body := func(title string) []byte {
		return []byte(`{"requestId":"` + string(s.id) + `","title":"` + title + `"}`)
	}
	header, _, _, err := s.store.Calls.Header(t.Context(), s.id)
	must.OK(t, err)
	for _, c := range []struct {
		name, key, id, title string
		at                   time.Duration
		want                 int
	}{
		{"six minutes old", string(s.signature), "msg_1", "A", -6 * time.Minute, 403},
		{"six minutes ahead", string(s.signature), "msg_1", "A", 6 * time.Minute, 403},
		{"by another key", strings.Repeat("0", 64), "msg_1", "A", 0, 403},
		{"by the secret itself, which only the server has", string(header.Secret()), "msg_1", "A", 0, 200},
		{"the same again", string(s.signature), "msg_1", "A", 0, 200},
		{"another message with the id", string(s.signature), "msg_1", "B", 0, 409},
		{"another message, which comes too late", string(s.signature), "msg_2", "B", 0, 409},
	} {
		text := body(c.title)
		status, answer := s.postWith(signedBy(t, c.key, c.id, time.Now().Add(c.at), text), text)
		must.Equal(t, c.want, status, c.name, answer)
		if c.id == "msg_1" && c.want == 409 {
			must.Equal(t, `The webhook-id "msg_1" belongs to another message`, answer["error"].(string))
		}
	}
}

// A webhook of an earlier turn is refused, as its hmac is.
func TestWebhooksOfAnEarlierTurn(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{}).start("note")
	text := []byte(`{"requestId":"` + string(s.id) + `","title":"A"}`)
	before := s.signature
	s.want(200, "checkpoints", object{"type": "information_request", "message": "Which colour?"})
	s.reply(givenText("blue"))
	s.resume()
	status, answer := s.postWith(signedBy(t, string(before), "msg_1", time.Now(), text), text)
	must.Equal(t, 403, status, answer)
	status, answer = s.postWith(signedBy(t, string(s.signature), "msg_1", time.Now(), text), text)
	must.Equal(t, 200, status, answer)
}
