package model_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"ringback/internal/turn/model"
	"ringback/test/must"
)

// BenchmarkRequest compares a request of the CLI's size to the API itself with one that is
// forwarded.
func BenchmarkRequest(b *testing.B) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, strings.Repeat("event: content_block_delta\ndata: {}\n\n", 100))
	}))
	b.Cleanup(api.Close)
	u := must.Get(url.Parse(api.URL))(b)
	passed := httptest.NewServer(whole(model.API{URL: u, Transport: model.NewTransport(nil)}))
	b.Cleanup(passed.Close)
	body := `{"a":"` + strings.Repeat("x", 88_000) + `"}`
	for name, address := range map[string]string{"direct": api.URL, "passed on": passed.URL} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				sent := time.Now()
				answer := must.Get(http.Post(address+"/v1/messages", "application/json", strings.NewReader(body)))(b)
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				took = append(took, time.Since(sent))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
		})
	}
}
