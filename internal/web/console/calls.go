package console

import (
	"net/http"
	"net/http/httptest"

	"github.com/labstack/echo/v4"

	"ringback/client"
)

// api returns a client that calls the API for the visitor: with the visitor's credential and
// address.
func (v *visit) api() *client.Client {
	return client.New("", client.WithToken(v.token), client.WithHTTPClient(&http.Client{Transport: inProcess{v}}))
}

type inProcess struct{ visit *visit }

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	t.visit.forward(answer, r)
	return answer.Result(), nil
}

// forward passes a request of the visit to the API, which writes its response to w.
func (v *visit) forward(w http.ResponseWriter, r *http.Request) {
	outer := v.Request()
	inner := r.Clone(v.console.opts.MarkFunc(r.Context()))
	inner.RequestURI, inner.Host, inner.RemoteAddr = r.URL.RequestURI(), outer.Host, outer.RemoteAddr
	for _, name := range []string{echo.HeaderXForwardedFor, echo.HeaderXRealIP} {
		if values := outer.Header.Values(name); len(values) > 0 {
			inner.Header[name] = values
		}
	}
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	v.console.opts.API.ServeHTTP(w, inner)
}
