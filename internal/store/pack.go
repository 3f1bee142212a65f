package store

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// pack compresses a text with gzip.
func pack(text []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(text) // in-memory writes do not fail
	_ = w.Close()
	return packed.Bytes()
}

// unpack reverses pack. It returns an error if the text has more than max bytes.
func unpack(packed []byte, max int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, max+1))
	if err == nil && int64(len(text)) > max {
		err = fmt.Errorf("it has more than %d bytes", max)
	}
	return text, err
}
