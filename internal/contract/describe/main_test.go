package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The committed descriptions must match the source. The go:generate directive lists the
// packages that are read.
func TestDescriptionsAreUpToDate(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../doc.go")
	if err != nil {
		t.Fatal(err)
	}
	generate := regexp.MustCompile(`//go:generate go run ./describe (\S+) (.*)`).FindStringSubmatch(string(doc))
	if generate == nil {
		t.Fatal("nothing generates them")
	}
	var dirs []string
	for dir := range strings.FieldsSeq(generate[2]) {
		dirs = append(dirs, "../"+dir)
	}
	want, err := Describe(dirs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../" + generate[1])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Error("internal/contract/descriptions.json is out of date: run make generate")
	}
}
