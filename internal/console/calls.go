package console

import (
	"bytes"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/client"
)

// api returns a client that calls the API for the visitor: with the visitor's credential and
// address.
func (v *visit) api() *client.Client {
	return client.New("", client.WithToken(v.token), client.WithHTTPClient(&http.Client{Transport: inProcess{v}}))
}

// inProcess sends requests to the API in the same process.
type inProcess struct{ visit *visit }

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &recorder{header: http.Header{}, status: http.StatusOK}
	t.visit.forward(answer, r)
	return &http.Response{
		Status: http.StatusText(answer.status), StatusCode: answer.status, Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
		Header: answer.header, Body: io.NopCloser(&answer.body), ContentLength: int64(answer.body.Len()), Request: r,
	}, nil
}

// forward passes a request of the visit to the API, which writes its response to w.
func (v *visit) forward(w http.ResponseWriter, r *http.Request) {
	outer := v.Request()
	inner := v.console.opts.Mark(r.Clone(r.Context()))
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

// recorder records a response.
type recorder struct {
	header http.Header
	status int
	begun  bool
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if !r.begun {
		r.status, r.begun = status, true
	}
}

func (r *recorder) Write(text []byte) (int, error) {
	r.begun = true
	return r.body.Write(text)
}
