package console

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
)

// tree is a JSON value prepared for people: a text, a table of names and values, or a list.
type tree struct {
	// Label is the value's name; empty in a list.
	Label string
	// Text is the text of a value that is not an object or list; Long is true if it has several
	// lines or many characters. Raw is set if Text is JSON.
	Text      string
	Long, Raw bool
	// Image is the URL of a file of the job that can be shown.
	Image string
	// Below are the values that it contains; Holds is true for an object or list, even an empty
	// one.
	Below []*tree
	Holds bool
}

// newTree converts a JSON value, with its fields in order. files is the URL of the job's files. A
// value with too many values in it is shown as JSON.
func newTree(label string, text json.RawMessage, files string) *tree {
	if extentOf(text).values > mostValues {
		return &tree{Label: label, Text: pretty(text), Raw: true}
	}
	return readTree(label, text, files, 0)
}

func readTree(label string, text json.RawMessage, files string, depth int) *tree {
	t := &tree{Label: label}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return t
	}
	switch {
	case depth >= deepestTree:
		t.Text, t.Raw = pretty(text), true // deeper values
	case text[0] == '{':
		t.Holds = true
		for name, value := range job.Members(text) {
			t.Below = append(t.Below, readTree(job.FieldLabel("", name), value, files, depth+1))
		}
	case text[0] == '[':
		t.Holds = true
		var items []json.RawMessage
		_ = json.Unmarshal(text, &items) // it is valid JSON from the API
		for i, item := range items {
			t.Below = append(t.Below, readTree(strconv.Itoa(i+1), item, files, depth+1))
		}
	case text[0] == '"':
		_ = json.Unmarshal(text, &t.Text)
		t.Long = len(t.Text) > 120 || strings.Contains(t.Text, "\n")
		if isImage(t.Text) {
			t.Image = files + t.Text
		}
	default:
		t.Text = string(text)
	}
	return t
}

func isImage(name string) bool {
	if len(name) > 300 || strings.ContainsAny(name, ":\\?#\n\"") || strings.HasPrefix(name, "/") || strings.Contains(name, "..") {
		return false
	}
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"}, path.Ext(strings.ToLower(name)))
}
