package schema

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// pointerTokens returns the unescaped tokens of a JSON pointer (RFC 6901).
func pointerTokens(pointer string) []string {
	tokens := strings.Split(pointer, "/")[1:]
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens
}

// plainPointer removes the percent-encoding that the schema library adds to the tokens of
// its pointers.
func plainPointer(pointer string) string {
	if !strings.Contains(pointer, "%") {
		return pointer
	}
	plain, err := url.PathUnescape(pointer)
	if err != nil {
		return pointer
	}
	return plain
}

// pointerOf returns the JSON pointer of a compiled schema in its document.
func pointerOf(s *jsonschema.Schema) string {
	_, pointer, _ := strings.Cut(s.Location, "#")
	return plainPointer(pointer)
}

func lastToken(pointer string) string {
	tokens := pointerTokens(pointer)
	if len(tokens) == 0 {
		return ""
	}
	return tokens[len(tokens)-1]
}

func parentPointer(pointer string) string {
	return pointer[:max(0, strings.LastIndexByte(pointer, '/'))]
}

// valueAt follows a JSON pointer in decoded JSON; nil if it does not resolve.
func valueAt(v any, pointer string) any {
	for _, token := range pointerTokens(pointer) {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

// comparePointers orders paths in reading order: items by their index, a value before its
// parts.
func comparePointers(a, b string) int { return slices.Compare(sortable(a), sortable(b)) }

// sortable returns the tokens of a pointer, with indexes of the same length.
func sortable(pointer string) []string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		if index, err := strconv.ParseUint(token, 10, 64); err == nil {
			tokens[i] = fmt.Sprintf("%020d", index)
		}
	}
	return tokens
}
