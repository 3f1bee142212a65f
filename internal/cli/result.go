package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/literal"
)

// ending prints the outcome of a job that has ended.
func (p printer) ending(j job.Job) {
	p.printf(
		"%s after %s  %s\n", p.state(j.State), j.FinishedAt.Sub(j.CreatedAt).Round(100*time.Millisecond),
		p.paint(faint, clean(string(j.ID))),
	)
	if j.Simulated {
		p.printf("%s\n", p.paint(yellow, "Claude: "+simulation(j)))
	}
	if j.State == job.Received {
		p.printf("\n")
		p.result(j.Result)
		return
	}
	p.line("Error", reason(j))
	if j.State.CanBecome(job.Pending) {
		p.printf("%s\n", p.paint(faint, "Try again with: ringback retry "+clean(string(j.ID))))
	}
}

// result prints what Claude submitted.
func (p printer) result(text json.RawMessage) {
	p.quoted("Result", func(p printer) {
		var m menu
		if json.Unmarshal(text, &m) != nil || !m.complete() {
			p.json([]byte(literal.JSON(indented(text))))
			return
		}
		p.menu(m)
	})
}

// quoted prints what Claude wrote, below a name. Each of its rows follows a bar, so that none can
// pass for Ringback's own output.
func (p printer) quoted(name string, show func(printer)) {
	const bar = "  │ "
	var text strings.Builder
	inner := p
	inner.Writer = &text
	if p.columns > 0 {
		inner.columns = max(1, p.columns-cellsOf(bar))
	}
	show(inner)
	p.printf("  %s:\n", name)
	for row := range strings.Lines(text.String()) {
		p.printf("%s\n", strings.TrimRight(bar+strings.TrimSuffix(row, "\n"), " "))
	}
}

// menu contains the shown fields of suggested meals.
type menu struct {
	Suggestions []struct {
		Date     string `json:"date"`
		MealType string `json:"mealType"`
		Recipe   dish   `json:"recipe"`
	} `json:"suggestions"`
	Reasoning string `json:"reasoning"`
}

type dish struct {
	Name        string `json:"name"`
	PrepMinutes int    `json:"prepMinutes"`
	CookMinutes int    `json:"cookMinutes"`
	Ingredients []struct {
		Name string `json:"name"`
	} `json:"ingredients"`
}

// complete reports whether a result is a menu and does not only resemble one.
func (m menu) complete() bool {
	for _, s := range m.Suggestions {
		if s.Recipe.Name == "" {
			return false
		}
	}
	return len(m.Suggestions) > 0
}

func (p printer) menu(m menu) {
	var rows [][]string
	for _, s := range m.Suggestions {
		rows = append(rows, []string{s.Date, s.MealType, s.Recipe.Name, s.Recipe.time(), s.Recipe.with()})
	}
	p.table([]string{"DATE", "MEAL", "DISH", "TIME", "WITH"}, rows)
	if m.Reasoning != "" {
		p.printf("\n")
		p.hang("", "", "", m.Reasoning)
	}
}

func (d dish) time() string {
	if d.PrepMinutes+d.CookMinutes == 0 {
		return ""
	}
	return fmt.Sprintf("%d min", d.PrepMinutes+d.CookMinutes)
}

// with returns the first ingredients.
func (d dish) with() string {
	var names []string
	for _, i := range d.Ingredients[:min(3, len(d.Ingredients))] {
		names = append(names, i.Name)
	}
	return strings.Join(names, ", ")
}
