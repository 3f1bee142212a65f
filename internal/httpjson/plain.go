package httpjson

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// plain parses valid JSON in one pass. If in doubt it gives up, and decodeExactly
// determines what is wrong, if anything. A fuzz test checks that the two agree.
type plain struct {
	body []byte
	// text is the same as body; strings are slices of it.
	text string
	at   int
}

// decodePlain is Decode for input that is certainly valid; false if it may not be.
func decodePlain(body []byte) (map[string]any, bool) {
	if !utf8.Valid(body) {
		return nil, false
	}
	p := plain{body: body, text: string(body)}
	if p.next() != '{' {
		return nil, false
	}
	object, ok := p.object(1)
	return object, ok && p.next() == 0 && p.at == len(p.text)
}

// next skips white space and returns the next byte; 0 at the end.
func (p *plain) next() byte {
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
func (p *plain) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

func (p *plain) value(depth int) (any, bool) {
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

// object parses an object without duplicate keys.
func (p *plain) object(depth int) (map[string]any, bool) {
	p.at++
	object := map[string]any{}
	if depth > MaxDepth || p.take('}') {
		return object, depth <= MaxDepth
	}
	for {
		if p.next() != '"' {
			return nil, false
		}
		key, ok := p.string()
		if _, twice := object[key]; twice || !ok || !p.take(':') {
			return nil, false
		}
		if object[key], ok = p.value(depth); !ok {
			return nil, false
		}
		if !p.take(',') {
			return object, p.take('}')
		}
	}
}

func (p *plain) array(depth int) ([]any, bool) {
	p.at++
	array := []any{}
	if depth > MaxDepth || p.take(']') {
		return array, depth <= MaxDepth
	}
	for {
		v, ok := p.value(depth)
		if !ok {
			return nil, false
		}
		array = append(array, v)
		if !p.take(',') {
			return array, p.take(']')
		}
	}
}

// string parses a string; if it has escapes, encoding/json does. It gives up on surrogates,
// which may be unpaired.
func (p *plain) string() (string, bool) {
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
			return s, err == nil && !strings.ContainsRune(s, utf8.RuneError)
		case c == '\\':
			escapes = true
			p.at++
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

func (p *plain) number() (any, bool) {
	begin := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.0123456789Ee", p.text[p.at]) >= 0 {
		p.at++
	}
	return json.Number(p.text[begin:p.at]), p.at > begin && json.Valid(p.body[begin:p.at])
}

func (p *plain) word(w string) bool {
	if !strings.HasPrefix(p.text[p.at:], w) {
		return false
	}
	p.at += len(w)
	return true
}
