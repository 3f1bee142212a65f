package job_test

import (
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

func TestParseIDPrefix(t *testing.T) {
	t.Parallel()
	const random = "k3x6abcdefghijklmnopqrstuv"
	for _, c := range []struct {
		name, text         string
		ok, short, entire  bool
		matches, otherPart bool
	}{
		{"whole", "req_06_" + random, true, false, true, true, false},
		{"without its word", "06_" + random, true, false, true, true, false},
		{"random part alone", random, true, false, false, true, true},
		{"beginning", "k3x6ab", true, false, false, true, true},
		{"beginning with its word", "req_k3x6ab", true, false, false, true, true},
		{"beginning with its partition", "req_06_k3x6ab", true, false, false, true, false},
		{"in capitals", " K3X6AB", true, false, false, true, true},
		{"of another", "k3x7ab", true, false, false, false, false},
		{"too short", "k3x6a", true, true, false, true, true},
		{"nothing", "", true, true, false, true, true},
		{"nothing behind the partition", "req_06_", true, true, false, true, false},
		{"too long", "req_06_" + random + "a", false, false, false, false, false},
		{"another word", "chk_06_" + random, false, false, false, false, false},
		{"no id", "a lake", false, false, false, false, false},
		{"a pattern", "k3x6a*", false, false, false, false, false},
		{"a digit that ids do not have", "k3x6a1", false, false, false, false, false},
		{"odd partition", "req_zz_k3x6ab", false, false, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, ok := job.ParseIDPrefix(job.JobIDs, c.text)
			must.Equal(t, c.ok, ok)
			if !ok {
				return
			}
			if p.TooShort() != c.short || p.Complete() != c.entire {
				t.Errorf("too short: %v, complete: %v", p.TooShort(), p.Complete())
			}
			if p.Matches("req_06_"+random) != c.matches || p.Matches("req_07_"+random) != c.otherPart || p.Matches("chk_06_"+random) {
				t.Errorf("matches the wrong ids")
			}
		})
	}
}

func TestShortIDs(t *testing.T) {
	t.Parallel()
	const rest = "_06_k3x6abcdefghijklmnopqrstuv"
	for got, want := range map[string]string{
		job.ID("req" + rest).Short():           "k3x6abcd",
		job.ID("req_1_a").Short():              "req_1_a",
		job.CheckpointID("chk" + rest).Short(): "chk_k3x6abcd",
		job.ShortApproval("apr" + rest):        "apr_k3x6abcd",
		job.ShortApproval("other"):             "other",
	} {
		must.Equal(t, want, got)
	}
}

func TestLooksLikeID(t *testing.T) {
	t.Parallel()
	const random = "k3x6abcdefghijklmnopqrstuv"
	for word, want := range map[string]bool{
		"req_06_" + random: true, "chk_06_" + random + ",": true, "`req_06_" + random + "`": true, "REQ_06_K3X6ABCDEF": true, "req_k3x6": true, "req-06-" + random: true,
		"rqe_06_" + random: true, "06_" + random: true, random: true, "ses_06_k3x6abcd": true, "apr_k3x6abcd": true, "(chk_06_" + random + ")": true, "http://h.example/jobs/req_06_" + random: true,
		"request": false, "Session": false, "k3x6abcd": false, "hello": false, "set_timeout": false, "internationalization": false, "": false, "src/req_handler.go": false, "check_it": false,
	} {
		must.Equal(t, want, job.LooksLikeID(word), word)
	}
}
