package httpjson

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
)

// ReadObject reads a request's body of at most limit bytes as a strict JSON object. text is the body:
// the object has lost the order of its members. The error is a *job.Error: Unsupported for another
// content type, TooLarge over the limit, Invalid for anything that strictjson.Decode rejects.
func ReadObject(w http.ResponseWriter, r *http.Request, limit int64) (object map[string]any, text string, err error) {
	body, err := ReadBody(w, r, limit)
	if err != nil {
		return nil, "", err
	}
	return strictjson.DecodeText(body)
}

// ReadBody reads a request's body of at most limit bytes, which must have the content type
// of JSON. Its errors are those of ReadObject.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if err := checkContentType(r.Header.Get("Content-Type")); err != nil {
		return nil, err
	}
	body := r.Body
	if r.ContentLength < 0 || r.ContentLength > limit { // no body is longer than its Content-Length
		body = http.MaxBytesReader(w, body, limit)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, readError(err, limit)
	}
	_ = r.Body.Close() // net/http would look for the rest of a body that is open
	return text, nil
}

func checkContentType(header string) error {
	if header == "application/json" {
		return nil
	}
	media, _, err := mime.ParseMediaType(header)
	if err == nil && media == "application/json" {
		return nil
	}
	found := "no Content-Type"
	if header != "" {
		found = "Content-Type " + header
	}
	return job.Errorf(job.Unsupported, "Unsupported content type").
		WithHint("Found %s. Send the header Content-Type: application/json (curl: -H 'Content-Type: application/json').", found)
}

func readError(err error, limit int64) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return job.Errorf(job.TooLarge, "Payload too large").
			WithHint("A body may have at most %d bytes.", limit)
	}
	e := job.Errorf(job.Invalid, "The body could not be read").WithHint("Send the whole body again.")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		e.Cause = err
	}
	return e
}
