package store

import (
	"testing"

	"ringback/test/must"
)

// A version reads two formats. Any other store is refused, with the way to go.
func TestAJumpOverAFormatIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reads         formats
		format, holds int
		want          string // "" if it is used
	}{
		"its own":                             {formats{9, 10}, 10, 10, ""},
		"the one before":                      {formats{9, 10}, 9, 9, ""},
		"one that has moved lately":           {formats{9, 10}, 10, 9, ""},
		"of the next version":                 {formats{9, 10}, 11, 10, "start the newer version here"},
		"of a version that none leads from":   {formats{9, 10}, 8, 8, "let the older one end its jobs, then use an empty store"},
		"two versions older":                  {formats{10, 11}, 9, 9, "Go through the version that writes format 10 (docs/how-to/upgrade.md): start it, run ringback upgrade --finish and ringback migrate"},
		"with records of two versions before": {formats{10, 11}, 10, 9, "Start the version that writes format 10 again, run ringback migrate"},
		"with none of these":                  {formats{10, 11}, 10, 10, ""},
	} {
		err := c.reads.fault(c.format, c.holds)
		if c.want == "" {
			must.OK(t, err, name)
		} else {
			must.Fail(t, err, c.want, name)
		}
	}
}
