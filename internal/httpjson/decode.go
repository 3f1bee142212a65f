package httpjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ringback/internal/job"
)

// MaxDepth is the maximum nesting depth of a body.
const MaxDepth = 64

const malformed = "Malformed JSON"

// Decode parses one JSON object strictly: valid UTF-8, no unpaired surrogates, no duplicate
// keys, at most MaxDepth levels, nothing after it. Numbers become json.Number. The error is
// a *job.Error that describes what is wrong and where. Strings share the memory of a copy
// of the body: clone one that outlives the request.
func Decode(body []byte) (map[string]any, error) {
	if object, ok := decodePlain(body); ok {
		return object, nil
	}
	return decodeExactly(body)
}

// decodeExactly is Decode for input that may be invalid: it determines what is wrong and
// where.
func decodeExactly(body []byte) (map[string]any, error) {
	if !utf8.Valid(body) {
		return nil, job.Errorf(job.Invalid, malformed).
			WithHint("The body is not valid UTF-8 (byte %d). Encode it as UTF-8.", firstInvalid(body))
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, job.Errorf(job.Invalid, malformed).
			WithHint("The body is empty; a JSON object is expected. With curl, pass it as -d @file.json.")
	}
	if at := loneSurrogate(body); at >= 0 {
		line, column := position(body, int64(at))
		return nil, job.Errorf(job.Invalid, malformed).
			WithHint(
				"%s is half of a character (line %d, column %d). Write the character itself, or both of its \\u escapes.",
				body[at:at+6], line, column,
			)
	}
	r := reader{dec: json.NewDecoder(bytes.NewReader(body)), body: body}
	r.dec.UseNumber()
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, r.fail("there is something after the JSON object")
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, job.Errorf(job.Invalid, malformed).WithHint("The body must be a JSON object, found %s.", typeName(v))
	}
	return object, nil
}

// loneSurrogate returns the offset of an unpaired surrogate escape, or -1. encoding/json
// would replace it with U+FFFD, so a person would approve something other than what was
// sent.
func loneSurrogate(text []byte) int {
	for i := 0; ; {
		next := bytes.IndexByte(text[i:], '\\')
		if next < 0 {
			return -1
		}
		i += next
		first := escaped(text[i:])
		switch {
		case first < 0:
			i += 2
		case !utf16.IsSurrogate(first):
			i += 6
		case utf16.DecodeRune(first, escaped(text[i+6:])) == utf8.RuneError:
			return i
		default:
			i += 12
		}
		i = min(i, len(text))
	}
}

// escaped returns the code of the \uXXXX escape at the beginning of text, or -1.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	code, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(code)
}

type reader struct {
	dec  *json.Decoder
	body []byte
	path []string
}

func (r *reader) value(depth int) (any, error) {
	token, err := r.dec.Token()
	if err != nil {
		return nil, r.syntax(err)
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth >= MaxDepth {
		return nil, r.fail(fmt.Sprintf("it nests deeper than %d levels", MaxDepth))
	}
	if delim == '{' {
		return r.object(depth + 1)
	}
	return r.array(depth + 1)
}

func (r *reader) object(depth int) (any, error) {
	object := map[string]any{}
	for r.dec.More() {
		token, err := r.dec.Token()
		if err != nil {
			return nil, r.syntax(err)
		}
		key, _ := token.(string) // the decoder accepts nothing else as a key
		if _, twice := object[key]; twice {
			return nil, r.duplicate(key)
		}
		r.path = append(r.path, key)
		if object[key], err = r.value(depth); err != nil {
			return nil, err
		}
		r.path = r.path[:len(r.path)-1]
	}
	_, err := r.dec.Token()
	return object, r.syntax(err)
}

func (r *reader) array(depth int) (any, error) {
	array := []any{}
	for r.dec.More() {
		r.path = append(r.path, strconv.Itoa(len(array)))
		v, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		array = append(array, v)
		r.path = r.path[:len(r.path)-1]
	}
	_, err := r.dec.Token()
	return array, r.syntax(err)
}

func (r *reader) duplicate(key string) error {
	e := job.Errorf(job.Invalid, malformed).WithHint("Give each key once.")
	e.Details = []job.Detail{{Path: job.Pointer(append(r.path, key)...), Message: "this key is in the same object twice"}}
	return e
}

func (r *reader) fail(what string) error {
	line, column := position(r.body, r.dec.InputOffset())
	return job.Errorf(job.Invalid, malformed).
		WithHint("The JSON cannot be used: %s (line %d, column %d).", what, line, column)
}

func (r *reader) syntax(err error) error {
	if err == nil {
		return nil
	}
	what := strings.TrimPrefix(err.Error(), "json: ")
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		what = "it ends too early; a bracket or quote is not closed"
	}
	return r.fail(what)
}

func position(body []byte, offset int64) (line, column int) {
	before := body[:min(int(offset), len(body))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

func firstInvalid(body []byte) int {
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(body)
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}
