// Package gz compresses texts with gzip.
package gz

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// Pack compresses a text.
func Pack(text []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(text) // in-memory writes do not fail
	_ = w.Close()
	return packed.Bytes()
}

// IsPacked reports whether a text was compressed by Pack; no JSON is.
func IsPacked(text string) bool { return strings.HasPrefix(text, "\x1f\x8b") }

// Unpack reverses Pack. It returns an error if the text has more than max bytes.
func Unpack(packed []byte, max int64) ([]byte, error) {
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
