package contract

import (
	_ "embed"
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"sync"
	"unicode"
)

//go:embed descriptions.json
var descriptionsJSON []byte

// descriptions are the comments of the source, see the command describe.
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
		panic("contract: " + err.Error()) // it is part of the program
	}
	return d
})

// keyOf is what a type is called in the descriptions.
func keyOf(t reflect.Type) string { return path.Base(t.PkgPath()) + "." + plainName(t) }

// plainName is the name of a type without what it is of.
func plainName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// commentOf is what the source says of a type, or of one of its fields, for those who know
// the names that JSON has.
func commentOf(t reflect.Type, field string) string {
	described := descriptions().Types[keyOf(t)]
	if field == "" {
		return worded(described.Comment, plainName(t), "")
	}
	f, _ := t.FieldByName(field)
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return worded(described.Fields[field], field, name)
}

// worded takes the Go name out of a comment, which begins with it.
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

func capital(text string) string {
	for i, first := range text {
		return string(unicode.ToUpper(first)) + text[i+len(string(first)):]
	}
	return text
}
