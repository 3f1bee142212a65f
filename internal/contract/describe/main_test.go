package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"ringback/test/must"
)

// The committed descriptions must match the source. The go:generate directive lists the
// packages that are read.
func TestDescriptionsAreUpToDate(t *testing.T) {
	t.Parallel()
	doc := must.Get(os.ReadFile("../doc.go"))(t)
	generate := regexp.MustCompile(`//go:generate go run ./describe (\S+) (.*)`).FindStringSubmatch(string(doc))
	if generate == nil {
		t.Fatal("nothing generates them")
	}
	var dirs []string
	for dir := range strings.FieldsSeq(generate[2]) {
		dirs = append(dirs, "../"+dir)
	}
	want := must.Get(Describe(dirs))(t)
	got := must.Get(os.ReadFile("../" + generate[1]))(t)
	if !bytes.Equal(want, got) {
		t.Error("internal/contract/descriptions.json is out of date: run make generate")
	}
}
