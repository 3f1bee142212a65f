package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	object, _, err := DecodeText(body)
	return object, err
}

// DecodeText is Decode. It also returns the body as a string, which shares the memory of the strings in
// the object.
func DecodeText(body []byte) (object map[string]any, text string, err error) {
	if !utf8.Valid(body) {
		return nil, "", job.Errorf(job.Invalid, malformed).
			WithHint("The body is not valid UTF-8 (byte %d). Encode it as UTF-8.", firstInvalid(body))
	}
	p := parser{body: body, text: string(body)}
	if p.next() == '{' {
		if object, ok := p.object(1); ok && p.next() == 0 && p.at == len(body) {
			return object, p.text, nil
		}
	}
	return nil, "", p.explain()
}

// explain returns why the parser did not accept a body.
func (p *parser) explain() error {
	e := job.Errorf(job.Invalid, malformed)
	if len(bytes.TrimSpace(p.body)) == 0 {
		return e.WithHint("The body is empty; a JSON object is expected. With curl, pass it as -d @file.json.")
	}
	if at := loneSurrogate(p.body); at >= 0 {
		line, column := position(p.body, at)
		return e.WithHint("%s is half of a character (line %d, column %d). Write the character itself, or both of its \\u escapes.", p.body[at:at+6], line, column)
	}
	if p.twice != nil {
		e.Details = []job.Detail{{Path: job.Pointer(p.twice...), Message: "this key is in the same object twice"}}
		return e.WithHint("Give each key once.")
	}
	what, at := p.fault()
	line, column := position(p.body, at)
	return e.WithHint("The JSON cannot be used: %s (line %d, column %d).", what, line, column)
}

func (p *parser) fault() (what string, at int) {
	if p.tooDeep {
		return fmt.Sprintf("it nests deeper than %d levels", MaxDepth), p.at
	}
	dec := json.NewDecoder(bytes.NewReader(p.body))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return syntax.Error(), int(syntax.Offset) - 1
	} else if err != nil {
		return "it ends too early; a bracket or quote is not closed", len(p.body)
	}
	if _, ok := v.(map[string]any); !ok {
		return "it must be a JSON object, found " + typeName(v) + encodedTwice(v), 0
	}
	return "there is something after the JSON object", int(dec.InputOffset())
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

func position(body []byte, offset int) (line, column int) {
	before := body[:offset]
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
		return "true or false"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}

type parser struct {
	body    []byte
	text    string // The same as body; strings are slices of it.
	at      int
	tooDeep bool // Set if a value nests too deep. twice is the path of a duplicate key.
	twice   []string
}

// next skips white space and returns the next byte; 0 at the end.
func (p *parser) next() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take consumes c if it is the next byte.
func (p *parser) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) value(depth int) (any, bool) {
	switch c := p.next(); c {
	case '{':
		return p.object(depth + 1)
	case '[':
		return p.array(depth + 1)
	case '"':
		return p.string()
	case 't':
		return true, p.word("true")
	case 'f':
		return false, p.word("false")
	case 'n':
		return nil, p.word("null")
	}
	return p.number()
}

func (p *parser) object(depth int) (map[string]any, bool) {
	p.at++
	object := map[string]any{}
	if p.tooDeep = depth > MaxDepth; p.tooDeep || p.take('}') {
		return object, !p.tooDeep
	}
	for {
		if p.next() != '"' {
			return nil, false
		}
		key, ok := p.string()
		if _, twice := object[key]; twice && ok {
			p.twice = []string{key}
			return nil, false
		}
		if !ok || !p.take(':') {
			return nil, false
		}
		if object[key], ok = p.value(depth); !ok {
			p.within(key)
			return nil, false
		}
		if !p.take(',') {
			return object, p.take('}')
		}
	}
}

func (p *parser) array(depth int) ([]any, bool) {
	p.at++
	array := []any{}
	if p.tooDeep = depth > MaxDepth; p.tooDeep || p.take(']') {
		return array, !p.tooDeep
	}
	for {
		v, ok := p.value(depth)
		if !ok {
			p.within(strconv.Itoa(len(array)))
			return nil, false
		}
		array = append(array, v)
		if !p.take(',') {
			return array, p.take(']')
		}
	}
}

// within completes the path of a duplicate key with the key or index of a value that contains it.
func (p *parser) within(key string) {
	if p.twice != nil {
		p.twice = append([]string{key}, p.twice...)
	}
}

// string parses a string; if it has escapes, encoding/json does.
func (p *parser) string() (string, bool) {
	begin, escapes := p.at, false
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			if !escapes {
				return p.text[begin+1 : p.at-1], true
			}
			var s string
			err := json.Unmarshal(p.body[begin:p.at], &s)
			return s, err == nil && loneSurrogate(p.body[begin:p.at]) < 0
		case c == '\\':
			escapes = true
			p.at++
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

func (p *parser) number() (any, bool) {
	begin := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.0123456789Ee", p.text[p.at]) >= 0 {
		p.at++
	}
	return json.Number(p.text[begin:p.at]), p.at > begin && json.Valid(p.body[begin:p.at])
}

func (p *parser) word(w string) bool {
	if !strings.HasPrefix(p.text[p.at:], w) {
		return false
	}
	p.at += len(w)
	return true
}
