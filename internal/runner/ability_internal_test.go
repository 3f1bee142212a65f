package runner

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/test/must"
)

// Each step is "<job> fails", "<job> starts", "<job> is taken", "<job> ends" or "<duration> passes".
func TestANodeJudgesItselfByItsStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps   string
		blocked bool
		admits  bool
		fault   string // of the latest failed start
	}{
		"nothing has happened":                             {"", false, true, ""},
		"two starts failed":                                {"a fails, b fails", false, true, "node"},
		"three starts failed":                              {"a fails, b fails, c fails", true, false, "node"},
		"one has started between them":                     {"a fails, b fails, x starts, c fails", false, true, "node"},
		"the pause is over":                                {"a fails, b fails, c fails, 1s passes", true, true, "node"},
		"one job is tried":                                 {"a fails, b fails, c fails, 1s passes, a is taken", true, false, "node"},
		"the try failed: the pause doubles":                {"a fails, b fails, c fails, 1s passes, d is taken, d fails, 1s passes", true, false, "node"},
		"the longer pause is over":                         {"a fails, b fails, c fails, 1s passes, d is taken, d fails, 2s passes", true, true, "node"},
		"a try that needed no CLI is no verdict":           {"a fails, b fails, c fails, 1s passes, d is taken, d ends", true, true, "node"},
		"the try has started":                              {"a fails, b fails, c fails, 1s passes, d is taken, d starts", false, true, "node"},
		"a late start of an earlier turn counts, too":      {"a fails, b fails, c fails, d starts", false, true, "node"},
		"one job fails on a node that never started any":   {"a fails, a fails, a fails", true, false, "node"},
		"one job fails on a node that works":               {"x starts, a fails, a fails, a fails, a fails", false, true, "node"},
		"one job fails while others start":                 {"x starts, a fails, y starts, a fails", false, true, "job"},
		"one job fails while others start, again":          {"x starts, a fails, y starts, a fails, z starts, a fails", false, true, "job"},
		"a job that has started fails":                     {"a fails, x starts, a starts, a fails", false, true, "node"},
		"one job fails, then those of others on that node": {"x starts, a fails, y starts, a fails, b fails, c fails, d fails", true, false, "node"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s starts
			now, fault := time.Unix(1000, 0), ""
			for _, step := range strings.FieldsFunc(c.steps, func(r rune) bool { return r == ',' }) {
				what, verb, _ := strings.Cut(strings.TrimSpace(step), " ")
				id := job.ID(what)
				switch verb {
				case "fails":
					fault = map[bool]string{true: "node", false: "job"}[s.failed(id, "no", now)]
				case "starts":
					s.started(id)
				case "is taken":
					must.Equal(t, true, s.admits(now), step)
					s.took(id)
				case "ends":
					s.over(id)
				case "passes":
					now = now.Add(must.Get(time.ParseDuration(what))(t))
				}
			}
			must.Equal(t, c.blocked, s.problem() != nil, "it is blocked")
			must.Equal(t, c.admits, s.admits(now), "it takes a job")
			must.Equal(t, c.fault, fault, "at fault is")
		})
	}
}

func TestTheTriesOfABlockedNodeBackOff(t *testing.T) {
	t.Parallel()
	var s starts
	now := time.Unix(1000, 0)
	for n := range 20 {
		s.failed(job.ID(strconv.Itoa(n)), "no", now)
	}
	must.Equal(t, now.Add(longestTryPause), s.next)
	must.Fail(t, s.problem(), "20 turns in a row did not start (one job at a time is tried now): no")
}

// Each failed start leaves the job to other nodes once.
func TestAFailedStartIsPassedOnOnce(t *testing.T) {
	t.Parallel()
	var s starts
	must.Equal(t, false, s.passesOn("a"), "before it failed")
	for range 2 {
		s.failed("a", "no", time.Unix(0, 0))
		must.Equal(t, true, s.passesOn("a"))
		must.Equal(t, false, s.passesOn("a"), "a second time")
	}
	s.failed("a", "no", time.Unix(0, 0))
	s.started("a")
	must.Equal(t, false, s.passesOn("a"), "after it started")
}
