package document

import (
	_ "embed"
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"sync"
	"unicode"

	"ringback/internal/text/lazy"
)

//go:embed descriptions.json
var descriptionsJSON []byte

// descriptions contains the comments of the source, see describe_test.go.
var descriptions = sync.OnceValue(func() (d struct {
	Types map[string]struct {
		Comment string            `json:"comment"`
		Fields  map[string]string `json:"fields"`
	} `json:"types"`
	Values map[string][]struct {
		Value   string `json:"value"`
		Comment string `json:"comment"`
	} `json:"values"`
},
) {
	if err := json.Unmarshal(descriptionsJSON, &d); err != nil {
		panic("document: " + err.Error()) // the file is embedded in the program
	}
	return d
})

func keyOf(t reflect.Type) string { return path.Base(t.PkgPath()) + "." + plainName(t) }

func plainName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// commentOf returns the comment of a type or of one of its fields, reworded in terms of the
// JSON names.
func commentOf(t reflect.Type, field string) string {
	described := descriptions().Types[keyOf(t)]
	if field == "" {
		return inJSONNames(worded(described.Comment, plainName(t), ""), t)
	}
	f, _ := t.FieldByName(field)
	return inJSONNames(worded(described.Fields[field], field, tagName(f)), t)
}

func tagName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// goName matches the names of fields within a sentence, and anywhere those that are no plain words.
var goName = lazy.Regexp(`[a-z,;] [A-Z][a-z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z][a-z]+ (?:is|are)\b`)

// inJSONNames replaces the names of a struct's fields in a text by those in JSON.
func inJSONNames(text string, t reflect.Type) string {
	if t.Kind() != reflect.Struct {
		return text
	}
	return goName().ReplaceAllStringFunc(text, func(found string) string {
		start := strings.IndexFunc(found, unicode.IsUpper)
		name, rest, spaced := strings.Cut(found[start:], " ")
		if f, ok := t.FieldByName(name); ok && tagName(f) != "" && tagName(f) != "-" {
			name = "`" + tagName(f) + "`"
		}
		if spaced {
			name += " " + rest
		}
		return found[:start] + name
	})
}

// worded removes the Go name from the beginning of a comment.
func worded(comment, goName, jsonName string) string {
	rest, begins := strings.CutPrefix(comment, goName+" ")
	if !begins {
		return comment
	}
	for _, verb := range []string{"is ", "are "} {
		if said, ok := strings.CutPrefix(rest, verb); ok {
			return capital(said)
		}
	}
	if jsonName == "" {
		return capital(rest)
	}
	return "`" + jsonName + "` " + rest
}

func camelCase(text, separator string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(text, separator) {
		name.WriteString(capital(word))
	}
	return name.String()
}

func capital(text string) string {
	for i, first := range text {
		return string(unicode.ToUpper(first)) + text[i+len(string(first)):]
	}
	return text
}

//go:embed examples.json
var examplesJSON []byte

// exchange is a request and its response, as recorded by a test.
type exchange struct {
	Request json.RawMessage `json:"request"`
	Status  int             `json:"status"`
	Answer  json.RawMessage `json:"answer"`
}

// recorded contains the examples that test/contract recorded from a real server: requests
// and responses by the names of operations, and messages by their names.
var recorded = sync.OnceValue(func() (all struct {
	Operations map[string]exchange        `json:"operations"`
	Messages   map[string]json.RawMessage `json:"messages"`
},
) {
	if err := json.Unmarshal(examplesJSON, &all); err != nil {
		panic("document: " + err.Error()) // the file is embedded in the program
	}
	return all
})
