package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/people/notify"
	"ringback/internal/web/api"
	"ringback/test/must"
)

// inbound signs what comes from outside.
const inbound = "whsec_TUY4ZjdhM2M5ZTFiNGQ2MDg1YzJmN2U5"

func TestSignedRequestsForJobs(t *testing.T) {
	t.Parallel()
	ours := must.Get(notify.ParseSecrets("an-older-secret-of-32-letters-or-so " + inbound))(t)
	theirs := must.Get(notify.ParseSecrets("another-secret-than-the-one-in-use"))(t)
	opts := locked
	opts.InboundSecrets = ours
	s, opened := startServer(t, opts), startServer(t, api.Options{InboundSecrets: ours})
	note := object{"kind": "note", "userId": "u1", "input": object{}}
	headersOf := func(by notify.Secrets, id string, at time.Time, body any) []string {
		t.Helper()
		text := must.Get(json.Marshal(body))(t)
		h := http.Header{}
		must.OK(t, by.Sign(h, id, at, text))
		return []string{notify.HeaderID, id, notify.HeaderTimestamp, h.Get(notify.HeaderTimestamp), notify.HeaderSignature, h.Get(notify.HeaderSignature)}
	}
	now := time.Now()
	send := func(body object, headers ...string) answer { return s.as("", "POST", "/api/jobs", body, headers...) }

	first := send(note, headersOf(ours[1:], "msg_1", now, note)...)
	if first.Status != http.StatusAccepted {
		t.Fatalf("a signed request is answered %d %v", first.Status, first.Body)
	}
	s.wants(http.StatusOK, tokenOf(t, "u1"), "GET", "/api/jobs/"+first.text("requestId"), nil)
	again := send(note, append(headersOf(ours[:1], "msg_1", now.Add(-time.Minute), note), "Idempotency-Key", "another")...)
	must.Equal(t, first.text("requestId"), again.text("requestId"), "the same message again is answered", again.Status, again.Body)
	keyed := object{"kind": "note", "userId": "u1", "input": object{}, "idempotencyKey": "k"}
	one, two := send(keyed, headersOf(ours, "msg_2", now, keyed)...), send(keyed, headersOf(ours, "msg_3", now, keyed)...)
	if one.Status != http.StatusAccepted || one.text("requestId") != two.text("requestId") {
		t.Errorf("two messages with the same key in the body are %v and %v", one.Body, two.Body)
	}

	changed := object{"kind": "note", "userId": "u2", "input": object{}}
	for name, row := range map[string]struct {
		body    object
		headers []string
		says    string
	}{
		"another body":          {changed, headersOf(ours, "m", now, note), "no v1 signature"},
		"another id":            {note, append(headersOf(ours, "m", now, note), notify.HeaderID, "m2"), "no v1 signature"},
		"another secret":        {note, headersOf(theirs, "m", now, note), "no v1 signature"},
		"another version":       {note, append(headersOf(ours, "m", now, note), notify.HeaderSignature, "v2,AAAA v1,AAAA x"), "no v1 signature"},
		"an old message":        {note, headersOf(ours, "m", now.Add(-6*time.Minute), note), "more than 5 minutes old"},
		"a message of tomorrow": {note, headersOf(ours, "m", now.Add(6*time.Minute), note), "more than 5 minutes ahead"},
		"no time":               {note, append(headersOf(ours, "m", now, note), notify.HeaderTimestamp, ""), "is missing"},
		"a time in words":       {note, append(headersOf(ours, "m", now, note), notify.HeaderTimestamp, "noon"), "seconds since 1970"},
		"no signature":          {note, nil, "no key or token was sent"},
	} {
		if a := send(row.body, row.headers...); a.Status != http.StatusUnauthorized || !strings.Contains(a.text("error"), row.says) || a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: answered %d %v", name, a.Status, a.Body)
		}
		if a := opened.as("", "POST", "/api/jobs", row.body, row.headers...); row.headers != nil && a.Status != http.StatusUnauthorized {
			t.Errorf("%s, without keys: answered %d %v", name, a.Status, a.Body)
		}
	}

	nobodys := object{"kind": "note", "input": object{}}
	for _, s := range []*server{s, opened} {
		if a := s.as("", "POST", "/api/jobs", nobodys, headersOf(ours, "m", now, nobodys)...); a.Status != http.StatusBadRequest || a.details()["/userId"] == "" {
			t.Errorf("a job of nobody's is answered %d %v", a.Status, a.Body)
		}
	}
	tooLong := headersOf(ours, strings.Repeat("m", 257), now, note)
	must.Equal(t, http.StatusBadRequest, send(note, tooLong...).Status, "an id that is too long")
	meals := object{"input": "x"} // whose is not said where it is signed
	if a := s.as("", "POST", "/api/suggestions?userId=u1", meals, headersOf(ours, "m", now, meals)...); a.Status != http.StatusBadRequest || a.details()["/userId"] == "" {
		t.Errorf("a user in the query is answered %d %v", a.Status, a.Body)
	}

	id := first.text("requestId")
	empty := object{}
	for _, path := range []string{"/api/jobs/" + id + "/cancel", "/api/jobs/bulk", "/to-llm", "/hitl/runs"} {
		s.wants(http.StatusUnauthorized, "", "POST", path, empty, headersOf(ours, "m", now, empty)...)
	}
	if j, err := s.store.Get(t.Context(), job.ID(id)); err != nil || j.State != job.Pending {
		t.Errorf("the job is %s, %v", j.State, err)
	}
}
