package store

import (
	"testing"
	"time"

	"ringback/test/must"
)

// A read contains the node's uptime when it was sent and answered, and the store's time, all in
// seconds. jump is the jump of the store's time that the last read detects.
func TestAJumpIsToldFromASlowAnswer(t *testing.T) {
	t.Parallel()
	type read struct {
		sent, answered, time float64
		corrections          int64
	}
	for name, c := range map[string]struct {
		readings []read
		jump     float64
	}{
		"time passes":                     {[]read{{10, 10, 1000, 0}, {15, 15, 1005, 0}}, 0},
		"ahead":                           {[]read{{10, 10, 1000, 0}, {15, 15, 1605, 0}}, 600},
		"back":                            {[]read{{10, 10, 1000, 0}, {15, 15, 405, 0}}, -600},
		"answered late":                   {[]read{{10, 10, 1000, 0}, {11, 31, 1021, 0}}, 0},
		"answered after a jump, and late": {[]read{{10, 10, 1000, 0}, {11, 31, 1621, 0}}, 610},
		"a jump during a slow answer":     {[]read{{10, 10, 1000, 0}, {11, 31, 1015, 0}, {35, 35, 1035, 0}}, 10},
		"the node itself was stopped":     {[]read{{10, 10, 1000, 0}, {40, 40, 1030, 0}}, 0},
		"answers in another order":        {[]read{{10, 10, 1000, 0}, {14, 14, 1004, 0}, {11, 15, 1001, 0}}, 0},
		"another node has corrected it":   {[]read{{10, 10, 1000, 0}, {15, 15, 1006, 1}}, 0},
		"a correction was lost":           {[]read{{10, 10, 1000, 1}, {15, 15, 1605, 0}}, 600},
		"a failover of five minutes":      {[]read{{10, 10, 1000, 0}, {310, 310, 1900, 0}}, 600},
		"clocks of another pace":          {[]read{{10, 10, 1000, 0}, {3610, 3610, 4602, 0}}, 0},
		"too long ago to say":             {[]read{{10, 10, 1000, 0}, {100000, 100000, 1690, 0}}, 0},
		"until it is corrected":           {[]read{{10, 10, 1000, 0}, {15, 15, 1605, 0}, {16, 16, 1606, 0}}, 600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var now clock
			var jump time.Duration
			for _, r := range c.readings {
				jump = now.see(3, reading{time.UnixMilli(int64(r.time * 1000)), seconds(r.sent), seconds(r.answered), r.corrections})
			}
			must.Equal(t, seconds(c.jump), jump, "it has jumped by")
		})
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
