package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"ringback/internal/upstream"
)

// What a request holds is noted before the API has the whole of it, wherever the pieces of the
// body end.
func TestTokensAreHeardBeforeTheRequestGoesOut(t *testing.T) {
	t.Parallel()
	one, two := "word_"+strings.Repeat("a", 26), "word_"+strings.Repeat("b", 26)
	body := "{" + strings.Repeat("x", 70_000) + one + " word_ short " + two + "y}"
	for name, c := range map[string]struct {
		err  error
		path string
		want []string
	}{
		"heard":        {nil, "/v1/messages", []string{one, two}},
		"not noted":    {errors.New("the store is away"), "/v1/messages", []string{one, two}},
		"another path": {nil, "/v1/messages/count_tokens", nil},
	} {
		var heard []string
		var arrived string
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, err := io.ReadAll(r.Body)
			if err == nil {
				arrived = string(text)
			}
			if err == nil && len(heard) != len(c.want) {
				t.Errorf("%s: the API has the request before it is noted", name)
			}
		}))
		t.Cleanup(api.Close)
		u, err := url.Parse(api.URL)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(upstream.API{URL: u, Transport: upstream.NewTransport(nil), HeardFunc: func(_ context.Context, tokens []string) error {
			for _, token := range tokens {
				if token == one || token == two {
					heard = append(heard, token)
				}
			}
			return c.err
		}})
		t.Cleanup(s.Close)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+c.path, iotest.HalfReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = int64(len(body))
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		if !slices.Equal(heard, c.want) || (arrived == body) != (c.err == nil) {
			t.Errorf("%s: heard %q, and %d of %d bytes arrived", name, heard, len(arrived), len(body))
		}
	}
}
