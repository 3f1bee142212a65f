package httpjson

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// ReadObject reads a request's body of at most limit bytes as a strict JSON object. text is the body:
// the object has lost the order of its members. The error is a *job.Error: Unsupported for another
// content type, TooLarge over the limit, Invalid for anything that strictjson.Decode rejects.
func ReadObject(w http.ResponseWriter, r *http.Request, limit int64) (object map[string]any, text string, err error) {
	buffer := buffers.Get().(*bytes.Buffer)
	defer func() {
		buffer.Reset()
		if buffer.Cap() <= 64<<10 { // a rare large body must not stay in the pool
			buffers.Put(buffer)
		}
	}()
	if err := readInto(buffer, w, r, limit); err != nil {
		return nil, "", err
	}
	return strictjson.DecodeText(buffer.Bytes())
}

// ReadBody reads a request's body of at most limit bytes, which must have the content type
// of JSON. Its errors are those of ReadObject.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	var buffer bytes.Buffer
	err := readInto(&buffer, w, r, limit)
	return buffer.Bytes(), err
}

func readInto(buffer *bytes.Buffer, w http.ResponseWriter, r *http.Request, limit int64) error {
	if err := checkContentType(r.Header.Get("Content-Type")); err != nil {
		return err
	}
	body := r.Body
	if r.ContentLength < 0 || r.ContentLength > limit { // no body is longer than its Content-Length
		body = http.MaxBytesReader(w, body, limit)
	}
	if _, err := buffer.ReadFrom(body); err != nil {
		return readError(err, limit)
	}
	_ = r.Body.Close() // net/http would look for the rest of a body that is open
	return nil
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
