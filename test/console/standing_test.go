package console

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ringback/test/harness"
	"ringback/test/must"
)

// Before a standing yes is given, the page shows what it allows, with examples of what the
// job has asked for.
func TestAStandingYesSaysWhatItLetsThrough(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"HOLD": "1ms", "PROMPTS_DIR": kinds(t, map[string]string{"release.md": releaseKind})})
	id, question := askAgain(t, s)
	const covered = "every shell command whose parts all match cp * (* is any text)"
	b := open(t, s, "/inbox/"+question)
	b.sees("once: this call, and no other", "until this job ends", "for all jobs of kind release for u8", covered, "it would have allowed 3:",
		`Bash {"command":"cp build main"}`, `# Nothing is copied.</code></li><h2>Approved</h2> a`, "bytes more: see the audit log", `Bash {"command":"cp build docs"}`)
	b.mustNot(`[...document.querySelectorAll(".covers li :not(code, a)")].length > 0 || document.querySelectorAll("main h2").length !== 1`,
		"an example has become part of the page")
	for _, screen := range []string{onTerminal(t, s, 71, "status", id), onTerminal(t, s, 200, "status", id)} {
		words := strings.Join(strings.Fields(screen), " ")
		for _, want := range []string{covered, "it would have allowed 3:", `│ Bash {"command":"cp build main"}`, "--scope job", "--scope always"} {
			must.Contain(t, words, want, "the terminal", screen)
		}
		shownAsJSON(t, screen, statusRows...)
	}

	b.do(chromedp.Click(`input[name=scope][value=job]`))
	b.press("Approve")
	harness.Eventually(t, "the job to go on", func() bool { return record(t, s, id)["status"] == "running" })
	for _, place := range []string{"release", "another"} {
		must.Equal(t, "allow", copies(t, s, id, place), "after a yes until the job ends, a copy to", place, "is answered")
	}
	if got := copies(t, s, id, "x && make"); got == "allow" {
		t.Error("it lets through a command with another part")
	}
	must.Contain(t, harness.Text(t, s.URL+"/api/jobs/"+id+"/audit"), `"rule":"Bash(cp *)"`, "the audit log does not name the rule")
	b.visit("/approvals?user=u8")
	b.sees("Lets through " + covered)
}
