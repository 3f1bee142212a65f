package intent_test

import (
	"testing"

	"ringback/internal/checkpoint/intent"
)

func TestNamingOneOfSeveralByItsNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]intent.Named{
		"1": {0, ""}, "2.": {1, ""}, "#2": {1, ""}, "１": {0, ""}, "1: yes": {0, "yes"}, "2 - no": {1, "no"}, "yes to 2": {1, "yes"}, "yes, 1": {0, "yes"}, "1) yes please": {0, "yes please"},
		"the first one: yes": {0, "yes"}, "no to the second": {1, "no"}, "number 2, no": {1, "no"}, "1?": {-1, ""}, "not 1": {0, "not"},
	} {
		got, ok := intent.ByNumber(2, text)
		if ok != (want.Question >= 0) || ok && got != want {
			t.Errorf("%q names %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"yes", "both", "yes to both", "all", "1 and 2", "1, 2: yes", "yes to 1 and 2", "1 yes, 2 no", "yes 1 no 2", "3", "0", "12", "1:1", "16:9", "first", "yes first", "neither", "the other one", "1 and the second", "-1", "1.5", "one", "",
	} {
		if got, ok := intent.ByNumber(2, text); ok {
			t.Errorf("%q was taken to name %v", text, got)
		}
	}
}

func TestNamingOneOfSeveralByItsTitle(t *testing.T) {
	t.Parallel()
	titles := []string{"Deploy to production", "Delete the old backups"}
	for text, want := range map[string]intent.Named{
		"yes, deploy to production": {0, "yes"}, "Deploy to production: yes": {0, "yes"}, "no to Delete the old backups": {1, "no"}, "deploy to production": {0, ""},
	} {
		if got, ok := intent.ByTitle(titles, text); !ok || got != want {
			t.Errorf("%q names %v, %v; want %v", text, got, ok, want)
		}
	}
	for name, c := range map[string]struct {
		titles []string
		text   string
	}{
		"none":                    {titles, "yes"},
		"both":                    {titles, "deploy to production and delete the old backups: yes"},
		"the same title":          {[]string{"Deploy", "Deploy"}, "yes, deploy"},
		"one within the other":    {[]string{"Deploy", "Deploy to production"}, "yes, deploy to production"},
		"a part of a word":        {[]string{"Deploy", "Publish"}, "redeploy: yes"},
		"a title that says yes":   {[]string{"Yes", "Publish"}, "yes"},
		"a title in another way":  {[]string{"ja bitte", "Publish"}, "ja bitte"},
		"a title of politeness":   {[]string{"OK, please", "Publish"}, "ok, please"},
		"a title of nothing":      {[]string{"", "Publish"}, "yes"},
		"a title said twice":      {[]string{"Deploy", "Publish"}, "deploy: yes, deploy"},
		"a title with a negation": {[]string{"Not now", "Publish"}, "not now"},
	} {
		if got, ok := intent.ByTitle(c.titles, c.text); ok {
			t.Errorf("%s: %q was taken to name %v", name, c.text, got)
		}
	}
}
