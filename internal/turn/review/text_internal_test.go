package review

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"ringback/internal/job"
	"ringback/internal/store"
	"ringback/test/must"
)

func file(path string, suspicious ...string) job.FileDiff {
	return job.FileDiff{Path: path, Status: job.FileAdded, Additions: 2, Deletions: 1, Suspicious: strings.Join(suspicious, "")}
}

func TestTheQuestionForAReview(t *testing.T) {
	t.Parallel()
	const first, later = "Claude completed req_1.\n\nDiff summary:\n", "Steering iteration 2 complete for req_1.\n\nUpdated changes:\n"
	said := func(text string) string {
		return "\nClaude's summary:\n```\n  " + text + "\n```\n\nReply: `approve`, `reject`, or `steer \"<prompt>\"`"
	}
	again := func(text string) string { return "\nThis is round 3.\n" + said(text) }
	for name, c := range map[string]struct {
		captured store.Captured
		want     string
	}{
		"the first round": {
			store.Captured{Output: "Added a.", Diff: []job.DiffOutput{{Repository: "service", Summary: "1 file changed, +2, -1", Files: []job.FileDiff{file("a.go")}}}},
			first + "\n**service**: 1 file changed, +2, -1\n  - a.go (added, +2/-1)\n" + said("Added a."),
		},
		"a round that was asked for": {
			store.Captured{Iteration: 2, Output: "Fixed a.", Diff: []job.DiffOutput{{Repository: "service", Summary: "no change"}}},
			later + "\n**service**: no change\n" + again("Fixed a."),
		},
		"each repository has a paragraph": {
			store.Captured{Diff: []job.DiffOutput{{Repository: "service", Summary: "1 file", Files: []job.FileDiff{file("a.go")}}, {Repository: "web", Summary: "no change"}}},
			first + "\n**service**: 1 file\n  - a.go (added, +2/-1)\n\n**web**: no change\n" + said(""),
		},
		"what Claude says cannot close its fence": {
			store.Captured{Output: "```\nReply: nothing\n```\n``\u200b`\r\n~~~"},
			first + said("'''\n  Reply: nothing\n  '''\n  ``\ufffd`\n  ~~~"),
		},
		"what Claude says cannot pass for what is listed": {
			store.Captured{Iteration: 2, Output: "Done.\n```\n\nUpdated changes:\n**service**: no change"},
			later + again("Done.\n  '''\n  \n  Updated changes:\n  **service**: no change"),
		},
		"what needs a second look comes first": {
			store.Captured{Iteration: 2, Diff: []job.DiffOutput{{
				Repository: "service", Summary: "2 files", Files: []job.FileDiff{file("a.go"), file("id_rsa", "it may hold a secret")},
				LeftOut: []job.LeftOut{{Path: "sub/", Reason: "it is a repository"}},
			}}},
			later + "\n**service**: 2 files\n  - sub/ CAUTION: it would not be pushed: it is a repository\n" +
				"  - id_rsa (added, +2/-1) CAUTION: it may hold a secret\n  - a.go (added, +2/-1)\n" + again(""),
		},
		"names are not markup": {
			store.Captured{Iteration: 2, Output: "\u202edone", Logs: []job.VerifierOutput{{Verifier: "service:a**b", ExitCode: 3}}, Diff: []job.DiffOutput{{
				Repository: "service", Summary: "5 files", Files: []job.FileDiff{
					file("a\n\n# Approved by the legal department\n"), file("__init__.py"), file("`**[x](https://a.example)"), file("- www.a.example"), file("m\u0430in.go"),
				},
			}}},
			later + "\n**FAILED `service:a**b`** (exit code: 3)\n\n**service**: 5 files\n" +
				"  - `\"a\\n\\n# Approved by the legal department\\n\"` (added, +2/-1)\n  - `__init__.py` (added, +2/-1)\n  - `\\u0060**[x](https://a.example)` (added, +2/-1)\n" +
				"  - `- www.a.example` (added, +2/-1)\n  - `\"m\\u0430in.go\"` (added, +2/-1)\n" + again("\ufffddone"),
		},
		"a renamed file has both names": {
			store.Captured{Output: "Moved.", Diff: []job.DiffOutput{{Repository: "service", Summary: "1 file changed, +0, -0", Files: []job.FileDiff{
				{Path: "new.go", OldPath: "the old.go", Status: job.FileRenamed},
			}}}},
			first + "\n**service**: 1 file changed, +0, -0\n  - `the old.go` → new.go (renamed, +0/-0)\n" + said("Moved."),
		},
		"a mode, and content that is not shown": {
			store.Captured{Output: "Done.", Diff: []job.DiffOutput{{Repository: "service", Summary: "2 files changed, +0, -0", Files: []job.FileDiff{
				{Path: "run.sh", Status: job.FileModified, Mode: "100644→100755"},
				{Path: "a.go", Status: job.FileModified, Binary: true, Suspicious: "binary: its content is not shown"},
			}}}},
			first + "\n**service**: 2 files changed, +0, -0\n  - a.go (modified, binary) CAUTION: binary: its content is not shown\n" +
				"  - run.sh (modified, +0/-0, mode 100644→100755)\n" + said("Done."),
		},
		"of a long name, both ends": {
			store.Captured{Diff: []job.DiffOutput{{Repository: "service", Summary: "1 file", Files: []job.FileDiff{file(strings.Repeat("a/", 200) + "deploy.yml")}}}},
			first + "\n**service**: 1 file\n  - `" + strings.Repeat("a/", 38) + "a…" + strings.Repeat("a/", 35) + "deploy.yml` (added, +2/-1)\n" + said(""),
		},
		"verifiers that failed come first": {
			store.Captured{
				Iteration: 2, Logs: []job.VerifierOutput{{Verifier: "service:test", Success: true}, {Verifier: "service:lint", ExitCode: 3}},
				Diff: []job.DiffOutput{{Repository: "service", Summary: "1 file", Files: []job.FileDiff{file("a.go")}}},
			},
			later + "\n**FAILED service:lint** (exit code: 3)\n\n**service**: 1 file\n  - a.go (added, +2/-1)\n" + again(""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, c.want, summaryText("req_1", c.captured))
		})
	}
}

func TestALongReviewIsCutButNamesWhatIsSuspicious(t *testing.T) {
	t.Parallel()
	d := job.DiffOutput{Repository: "service", Summary: "many"}
	for n := range 500 {
		d.Files = append(d.Files, file(fmt.Sprintf("file%d.go", n)))
	}
	for n := range 25 { // more than are otherwise listed
		d.Files = append(d.Files, file(fmt.Sprintf("%d.pem", n), "a secret"))
	}
	text := summaryText("req_1", store.Captured{Iteration: 1, Diff: []job.DiffOutput{d}})
	for _, want := range []string{"  - 0.pem ", "  - 24.pem ", "  - … and 500 more\n", "`approve`"} {
		must.Contain(t, text, want)
	}
}

// Whatever is long, what Ringback has found is named, and before what Claude says.
func TestNothingCrowdsOutWhatWasFound(t *testing.T) {
	t.Parallel()
	var many []job.FileDiff
	for n := range 500 {
		many = append(many, file(fmt.Sprintf("%s%d.pem", strings.Repeat("x", 300), n), "a secret"), file(fmt.Sprintf("%d%s", n, strings.Repeat("y", 300))))
	}
	var failed []job.VerifierOutput
	for range 100 {
		failed = append(failed, job.VerifierOutput{Verifier: "service:" + strings.Repeat("test", 100), ExitCode: 1})
	}
	for name, said := range map[string]string{
		"a long text": strings.Repeat("long ", 10_000), "characters that grow when they are shown": strings.Repeat("\x01", 1480), "many lines": strings.Repeat("\n", 1400),
		"bytes that are no text": strings.Repeat("\xff", 1400), "marks": strings.Repeat("\u0301", 1400), "fences": strings.Repeat("```", 900), "half a character at the limit": strings.Repeat("x", 1498) + "🍳🍳",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := summaryText("req_1", store.Captured{Output: said, Logs: failed, Diff: []job.DiffOutput{
				{Repository: "service", Summary: "many", Files: many}, {Repository: "web", Summary: "1 file", Files: []job.FileDiff{file(".github/workflows/deploy.yml", "it runs in CI")}},
			}})
			rest := text
			for _, want := range []string{"**FAILED `service:", " more**", "**service**: many", ".pem", "CAUTION: a secret", "CAUTION: ", " more of these", "… and ", "**web**: 1 file", "deploy.yml` (added, +2/-1) CAUTION: it runs in CI", "Claude's summary:", "`steer \"<prompt>\"`"} {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("%q is missing, or too late, in:\n%s", want, text)
				}
				rest = after
			}
			if strings.Count(text, "```") != 2 || len(text) > 6000 || strings.Count(text, "\n") > 100 || !utf8.ValidString(text) {
				t.Errorf("%d fences, %d bytes, %d lines:\n%s", strings.Count(text, "```"), len(text), strings.Count(text, "\n"), text)
			}
		})
	}
}

func TestWhereTheRestOfADiffIs(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]job.DiffOutput{
		"Here are the first 1000 of 2500 lines. ": {NextFrom: 1001, TotalLines: 2500},
		"Long lines are cut here. ":               {TotalLines: 3},
	} {
		if got := truncationHint("req_1", d); !strings.HasPrefix(got, want) || !strings.Contains(got, "ringback diff --full req_1") {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

func TestTheCommitSaysWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	const rest = "\n\nDone so.\n\nRingback-Request: req_1"
	for name, c := range map[string]struct{ input, want string }{
		"the prompt's first line":         {`{"prompt":"\n Fix the sum\nand more"}`, "Fix the sum" + rest},
		"a long prompt is cut":            {`{"prompt":"` + strings.Repeat("é", 100) + `"}`, strings.Repeat("é", 71) + "…" + rest},
		"a kind without a prompt":         {`{"topic":"x"}`, "change" + rest},
		"a prompt that is something else": {`{"prompt":["x"]}`, "change" + rest},
		"a prompt with hidden characters": {`{"prompt":"Fix\u0000 the\u202e sum"}`, "Fix\ufffd the\ufffd sum" + rest},
		"an empty prompt":                 {`{"prompt":"  \n"}`, "change" + rest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := job.Job{ID: "req_1", Kind: "change", Input: json.RawMessage(c.input), Result: json.RawMessage(`{"summary":"Done so."}`)}
			must.Equal(t, c.want, commitMessage(j))
		})
	}
}

// A reviewer is shown the beginning of a long summary, and its invisible characters as marks.
// Nothing else gets into the commit and the pull request.
func TestOnlyTheShownSummaryIsPublished(t *testing.T) {
	t.Parallel()
	result := must.Get(json.Marshal(map[string]string{"summary": "Done \u202e so." + strings.Repeat("x", 2000) + "the end"}))(t)
	j := job.Job{ID: "req_1", Input: json.RawMessage(`{"prompt":"Do it"}`), Result: result}
	message := commitMessage(j)
	summary, _, _ := strings.Cut(strings.TrimPrefix(message, "Do it\n\n"), "\n\nRingback-Request:")
	if strings.ContainsAny(message, "\u202e") || strings.Contains(message, "the end") {
		t.Errorf("the commit says %q", message)
	}
	must.Contain(t, summaryText("req_1", store.Captured{Output: job.NewResultMessage(result).Content}), summary, "the commit message")
}

func TestWhatBecameOfEachRepositoryIsTold(t *testing.T) {
	t.Parallel()
	all := []job.Finalized{
		{Repository: "a", Unchanged: true},
		{Repository: "b", Branch: "ringback/req_1", Commit: "abc", URL: "https://example.com/pull/7"},
		{Repository: "c", Branch: "ringback/req_1", Commit: "def", CompareURL: "https://example.com/compare", Note: "No pull request was opened: no login"},
		{Repository: "d", Branch: "ringback/req_1", Commit: "123"},
	}
	want := "Done.\na: nothing had changed\nb: PR created: https://example.com/pull/7\nc: pushed to ringback/req_1 as def\n" +
		"Open a pull request: https://example.com/compare\nNo pull request was opened: no login\nd: pushed to ringback/req_1 as 123"
	must.Equal(t, want, resultMessage(all))
	must.Equal(t, "", failures(all), "failed")
	must.Equal(t, "e: refused\n    f: forged\ufffd\nf: gone", failures(append(all, job.Finalized{Repository: "e", Error: "refused\nf: forged\u202e"}, job.Finalized{Repository: "f", Error: "gone"})), "failed")
	for n := range 9 {
		all = append(all, job.Finalized{Repository: fmt.Sprint("r", n), Error: strings.Repeat("\x01", 5000)})
	}
	must.Contain(t, notPublishedText(1, failures(all)), "    r8: ")
}
