package contract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// Tables returns the tables of docs/api.md, in Markdown, by the names of their
// placeholders.
func (c Contract) Tables() map[string]string {
	tables := map[string]string{
		"errors": c.errorTable(), "closes": c.closeTable(), "events": c.eventTable(), "frames": c.frameTable(),
	}
	for _, tag := range Tags {
		tables[string(tag.Name)] = c.routeTable(tag.Name)
	}
	return tables
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

func (c Contract) routeTable(tag Tag) string {
	routes := slices.DeleteFunc(slices.Clone(c.Routes), func(r Route) bool { return r.Tag != tag })
	says := "what it does"
	if tag == Callbacks {
		says = "what it takes"
	}
	return table(
		routes, func(r Route) []string { return []string{"`" + r.Method + " " + r.Path + "`", r.Summary} }, "endpoint", says,
	)
}

func (c Contract) errorTable() string {
	return table(errorRows[:], func(row errorRow) []string {
		return []string{strconv.Itoa(job.HTTPStatus(row.kind)), row.when}
	}, "status", "when")
}

func (c Contract) closeTable() string {
	return table(c.Closes, func(one Close) []string {
		return []string{strconv.Itoa(one.Code), one.When, one.Then}
	}, "code", "when", "what to do")
}

func (c Contract) eventTable() string {
	return table(c.Events, func(row lifecycle.EventRow) []string {
		return []string{"`" + string(row.Type) + "`", row.When, row.Tells}
	}, "event", "when", "data")
}

func (c Contract) frameTable() string {
	return table(c.Frames, func(f Frame) []string {
		by := "server"
		if f.ByClient {
			by = "client"
		}
		return []string{"`" + f.Name + "`", by, f.Text}
	}, "frame", "sent by", "meaning")
}

// The marks around a table, with its name.
const (
	placeBegin = "<!-- generated: "
	placeEnd   = "<!-- end -->\n"
)

// Fill replaces the tables in a text. It returns an error for a placeholder without a
// table, and for a table without a placeholder.
func (c Contract) Fill(text string) (string, error) {
	tables := c.Tables()
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, placeBegin)
		out.WriteString(before)
		if !found {
			break
		}
		name, rest, _ := strings.Cut(rest, " -->\n")
		_, after, closed := strings.Cut(rest, placeEnd)
		made, known := tables[name]
		if !known || !closed {
			return "", fmt.Errorf("there is no table %q, or its place has no end", name)
		}
		delete(tables, name)
		out.WriteString(placeBegin + name + " -->\n\n" + made + "\n" + placeEnd)
		text = after
	}
	if len(tables) > 0 {
		return "", fmt.Errorf("%d tables have no place: %v", len(tables), tables)
	}
	return out.String(), nil
}
