package spelling_test

import (
	"testing"

	"ringback/internal/text/spelling"
	"ringback/test/must"
)

func TestDistanceCountsEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"key", "key", 0}, {"", "key", 3}, {"key", "keys", 1}, {"secret", "secert", 1}, {"wrapper", "rapper", 1}, {"portrait", "protrat", 2}, {"one", "two", 3},
	} {
		if there, back := spelling.Distance(c.a, c.b), spelling.Distance(c.b, c.a); there != c.want || back != c.want {
			t.Errorf("%q and %q are %d and %d apart, want %d", c.a, c.b, there, back, c.want)
		}
	}
}

func TestNearestIsTheOneMeant(t *testing.T) {
	t.Parallel()
	known := []string{"maximum", "minimum", "minItems"}
	for word, want := range map[string]string{"minimun": "minimum", "maxinum": "maximum", "min_items": "minItems", "minimum": "minimum", "pattern": ""} {
		must.Equal(t, want, spelling.Nearest(word, known), word)
	}
}
