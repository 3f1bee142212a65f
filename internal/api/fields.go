package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"ringback/internal/job"
)

// selection is the set of fields that a list shows of each job.
type selection struct {
	names []string
	// without is set if names are the fields to leave out instead.
	without bool
}

var recordFields = jsonNames(reflect.TypeFor[job.Job]())

func jsonNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// parseFields parses the parameter fields, such as "requestId,status", or "-result,-input"
// for all but these; empty selects all.
func parseFields(text string) (selection, error) {
	if text == "" {
		return selection{without: true}, nil
	}
	var sel selection
	for i, part := range strings.Split(text, ",") {
		name, without := strings.CutPrefix(strings.TrimSpace(part), "-")
		if i > 0 && without != sel.without {
			return sel, job.InvalidField("/fields", "expected either names, or names that all begin with - for all fields but these")
		}
		if !slices.Contains(recordFields, name) {
			return sel, job.UnknownName("/fields", name, recordFields)
		}
		sel.names, sel.without = append(sel.names, name), without
	}
	return sel, nil
}

func (s selection) shows(name string) bool { return slices.Contains(s.names, name) != s.without }

// of returns a job's record with only the selected fields.
func (s selection) of(j job.Job) json.RawMessage {
	text := job.MustJSON(j)
	if s.without && len(s.names) == 0 {
		return text
	}
	all := map[string]json.RawMessage{}
	for name, value := range job.Members(text) {
		if s.shows(name) {
			all[name] = value
		}
	}
	return job.MustJSON(all)
}
