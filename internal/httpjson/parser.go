package httpjson

import (
	"encoding/json"
	"strconv"
	"strings"
)

type parser struct {
	body []byte
	// text is the same as body; strings are slices of it.
	text string
	at   int
	// tooDeep is set if a value nests too deep. twice is the path of a duplicate key.
	tooDeep bool
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
