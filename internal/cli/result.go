package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/literal"
)

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

func (p printer) result(text json.RawMessage) {
	p.quoted("Result", func(p printer) {
		m := decoded[menu](text)
		rows := m.rows()
		if rows == nil {
			p.json([]byte(literal.JSON(indented(text))))
			return
		}
		p.table([]string{"DATE", "MEAL", "DISH", "TIME", "WITH"}, rows)
		if m.Reasoning != "" {
			p.printf("\n")
			p.hang("", "", "", m.Reasoning)
		}
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
		Recipe   struct {
			Name        string `json:"name"`
			PrepMinutes int    `json:"prepMinutes"`
			CookMinutes int    `json:"cookMinutes"`
			Ingredients []struct {
				Name string `json:"name"`
			} `json:"ingredients"`
		} `json:"recipe"`
	} `json:"suggestions"`
	Reasoning string `json:"reasoning"`
}

// rows returns a row for each meal, or nil if a result is no menu and only resembles one.
func (m menu) rows() (rows [][]string) {
	for _, s := range m.Suggestions {
		if s.Recipe.Name == "" {
			return nil
		}
		minutes := ""
		if n := s.Recipe.PrepMinutes + s.Recipe.CookMinutes; n != 0 {
			minutes = fmt.Sprintf("%d min", n)
		}
		var with []string
		for _, i := range s.Recipe.Ingredients[:min(3, len(s.Recipe.Ingredients))] {
			with = append(with, i.Name)
		}
		rows = append(rows, []string{s.Date, s.MealType, s.Recipe.Name, minutes, strings.Join(with, ", ")})
	}
	return rows
}
