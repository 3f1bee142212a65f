package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringback/internal/job"
)

// result prints how a job ended.
func (p printer) result(j job.Job) {
	took := j.FinishedAt.Sub(j.CreatedAt).Round(100 * time.Millisecond)
	if j.State != job.Received {
		p.printf("%s after %s: %s (%s)\n", p.state(j.State), took, j.Error, j.ErrorCode)
		p.printf("%s\n", p.paint(faint, "Try again with: ringback retry "+string(j.ID)))
		return
	}
	p.printf("%s after %s  %s\n\n", p.state(j.State), took, p.paint(faint, string(j.ID)))
	if !p.menu(j.Result) {
		p.json(j.Result)
	}
}

func (p printer) json(text json.RawMessage) {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") == nil {
		p.printf("%s\n", out.String())
	}
}

// menu prints suggestions of meals; false when the result is something else.
func (p printer) menu(text json.RawMessage) bool {
	var menu struct {
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
	if json.Unmarshal(text, &menu) != nil || len(menu.Suggestions) == 0 || menu.Suggestions[0].Recipe.Name == "" {
		return false
	}
	var rows [][]string
	for _, s := range menu.Suggestions {
		minutes := ""
		if total := s.Recipe.PrepMinutes + s.Recipe.CookMinutes; total > 0 {
			minutes = fmt.Sprintf("%d min", total)
		}
		var names []string
		for _, i := range s.Recipe.Ingredients[:min(3, len(s.Recipe.Ingredients))] {
			names = append(names, i.Name)
		}
		rows = append(rows, []string{s.Date, s.MealType, s.Recipe.Name, minutes, strings.Join(names, ", ")})
	}
	p.table([]string{"DATE", "MEAL", "DISH", "TIME", "WITH"}, rows)
	p.printf("\n%s\n", menu.Reasoning)
	return true
}
