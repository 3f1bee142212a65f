package httpjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"sync"

	"ringback/internal/job"
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// ReadObject reads a request's body of at most limit bytes as a strict JSON object. text is the body:
// the object has lost the order of its members. The error is a *job.Error: Unsupported for another
// content type, TooLarge over the limit, Invalid for anything that Decode rejects.
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
	return decode(buffer.Bytes())
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
			WithHint("A body may hold %d bytes at most.", limit)
	}
	e := job.Errorf(job.Invalid, "The body could not be read").WithHint("Send the whole body again.")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		e.Cause = err
	}
	return e
}

// Into decodes an object into a struct. Errors name unknown fields and wrong types; numbers
// keep their digits if the struct's field has type any.
func Into(object map[string]any, into any) error {
	if wrong := wrongFields(object, reflect.TypeOf(into)); len(wrong) > 0 {
		return job.Errorf(job.Invalid, "Invalid request").WithDetails(wrong...)
	}
	dec := json.NewDecoder(bytes.NewReader(job.MustJSON(object)))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return job.Errorf(job.Invalid, "Invalid request").WithHint("%v", err)
	}
	return nil
}

// KnownInto is Into for an object in a format defined by others: fields that the struct
// does not have are ignored.
func KnownInto(object map[string]any, into any) error {
	known := map[string]any{}
	for name := range job.FieldsOf(reflect.TypeOf(into).Elem()) {
		if value, present := object[name]; present {
			known[name] = value
		}
	}
	return Into(known, into)
}
