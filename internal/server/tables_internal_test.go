package server

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/contract"
	"ringback/test/document"
)

// tables returns the tables of docs/api.md, in Markdown, by the names of their places.
func tables(c document.Contract) map[string]string {
	all := map[string]string{
		"errors": table(document.Errors[:], func(row document.ErrorRow) []string {
			return []string{strconv.Itoa(job.HTTPStatus(row.Kind)), row.When}
		}, "status", "when"),
		"closes": table(document.Closes, func(one document.Close) []string {
			return []string{strconv.Itoa(one.Code), one.When, one.Then}
		}, "code", "when", "what to do"),
		"events": table(c.Events, func(row lifecycle.EventRow) []string {
			return []string{"`" + string(row.Type) + "`", row.When, row.Tells}
		}, "event", "when", "data"),
		"frames": table(document.Frames, func(f document.Frame) []string {
			by := "server"
			if f.ByClient {
				by = "client"
			}
			return []string{"`" + f.Name + "`", by, f.Text}
		}, "frame", "sent by", "meaning"),
	}
	for _, tag := range contract.Tags {
		routes := slices.DeleteFunc(slices.Clone(c.Routes), func(r contract.Route) bool { return r.Tag != tag.Name })
		says := "what it does"
		if tag.Name == contract.Callbacks {
			says = "what it takes"
		}
		all[string(tag.Name)] = table(routes, func(r contract.Route) []string {
			return []string{"`" + r.Method + " " + r.Path + "`", r.Summary}
		}, "endpoint", says)
	}
	return all
}

// table formats a Markdown table with a row for each element of a list.
func table[T any](list []T, row func(T) []string, head ...string) string {
	var out strings.Builder
	line := func(cells []string) { fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	line(slices.Repeat([]string{"---"}, len(head)))
	for _, v := range list {
		line(row(v))
	}
	return out.String()
}

// place is where a table stands in a text.
var place = regexp.MustCompile(`(?s)(<!-- generated: ([^>]*) -->\n).*?(<!-- end -->\n)`)

// filled returns a text with each table in its place.
func filled(t *testing.T, text string, all map[string]string) string {
	t.Helper()
	text = place.ReplaceAllStringFunc(text, func(old string) string {
		parts := place.FindStringSubmatch(old)
		made, known := all[parts[2]]
		if !known {
			t.Errorf("there is no table %q", parts[2])
		}
		delete(all, parts[2])
		return parts[1] + "\n" + made + "\n" + parts[3]
	})
	if len(all) > 0 {
		t.Errorf("%d tables have no place: %v", len(all), all)
	}
	return text
}
