package contract

import (
	"fmt"
	"strconv"
	"strings"

	"ringback/internal/httpjson"
)

// Tables returns the tables of docs/api.md, in Markdown, by the names of their
// placeholders.
func (c Contract) Tables() map[string]string {
	tables := map[string]string{"errors": c.errorTable(), "closes": c.closeTable(), "events": c.eventTable(), "frames": c.frameTable()}
	for _, tag := range Tags {
		tables[string(tag.Name)] = c.routeTable(tag.Name)
	}
	return tables
}

// table formats a Markdown table.
func table(head []string, rows [][]string) string {
	var out strings.Builder
	line := func(cells []string) { fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	line(strings.Split(strings.Repeat("---,", len(head)-1)+"---", ","))
	for _, row := range rows {
		line(row)
	}
	return out.String()
}

func (c Contract) routeTable(tag Tag) string {
	var rows [][]string
	for _, r := range c.Routes {
		if r.Tag == tag {
			rows = append(rows, []string{"`" + r.Method + " " + r.Path + "`", r.Summary})
		}
	}
	says := "what it does"
	if tag == Callbacks {
		says = "what it takes"
	}
	return table([]string{"endpoint", says}, rows)
}

func (c Contract) errorTable() string {
	var rows [][]string
	for _, row := range errorRows {
		rows = append(rows, []string{strconv.Itoa(httpjson.Status(row.kind)), row.when})
	}
	return table([]string{"status", "when"}, rows)
}

func (c Contract) closeTable() string {
	var rows [][]string
	for _, one := range c.Closes {
		rows = append(rows, []string{strconv.Itoa(one.Code), one.When, one.Then})
	}
	return table([]string{"code", "when", "what to do"}, rows)
}

func (c Contract) eventTable() string {
	var rows [][]string
	for _, row := range c.Events {
		rows = append(rows, []string{"`" + string(row.Type) + "`", row.When, row.Tells})
	}
	return table([]string{"event", "when", "data"}, rows)
}

func (c Contract) frameTable() string {
	var rows [][]string
	for _, f := range c.Frames {
		by := "server"
		if f.ByClient {
			by = "client"
		}
		rows = append(rows, []string{"`" + f.Name + "`", by, f.Text})
	}
	return table([]string{"frame", "sent by", "meaning"}, rows)
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
