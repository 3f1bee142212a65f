package review

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/store"
	"ringback/test/must"
)

func file(path string, suspicious ...string) job.FileDiff {
	return job.FileDiff{Path: path, Status: job.FileAdded, Additions: 2, Deletions: 1, Suspicious: strings.Join(suspicious, "")}
}

func TestTheQuestionForAReview(t *testing.T) {
	t.Parallel()
	const reply = "\nReply: `approve`, `reject`, or `steer \"<prompt>\"`"
	for name, c := range map[string]struct {
		captured store.Captured
		want     string
	}{
		"the first round": {
			store.Captured{Output: "Added a.", Diff: []job.DiffOutput{{Repository: "service", Summary: "1 file changed, +2, -1", Files: []job.FileDiff{file("a.go")}}}},
			"Claude completed req_1.\n\nChanges:\n```\nAdded a.\n```\n\nDiff summary:\n**service**: 1 file changed, +2, -1\n  - a.go (added, +2/-1)\n" + reply,
		},
		"a round that was asked for": {
			store.Captured{Iteration: 2, Output: "Fixed a.", Diff: []job.DiffOutput{{Repository: "service", Summary: "no change"}}},
			"Steering iteration 2 complete for req_1. This is round 3.\n\n```\nFixed a.\n```\n\nUpdated changes:\n**service**: no change\n" + reply,
		},
		"what Claude says cannot close its fence": {
			store.Captured{Output: "```\nReply: nothing\n```"},
			"Claude completed req_1.\n\nChanges:\n```\n'''\nReply: nothing\n'''\n```\n\nDiff summary:\n" + reply,
		},
		"what needs a second look comes first": {
			store.Captured{Iteration: 1, Diff: []job.DiffOutput{{
				Repository: "service", Summary: "2 files", Files: []job.FileDiff{file("a.go"), file("id_rsa", "it may hold a secret")},
				LeftOut: []job.LeftOut{{Path: "sub/", Reason: "it is a repository"}},
			}}},
			"Steering iteration 1 complete for req_1. This is round 2.\n\n```\n\n```\n\nUpdated changes:\n**service**: 2 files\n  - sub/ CAUTION: it would not be pushed: it is a repository\n" +
				"  - id_rsa (added, +2/-1) CAUTION: it may hold a secret\n  - a.go (added, +2/-1)\n" + reply,
		},
		"what Claude says cannot pass for what is listed": {
			store.Captured{Iteration: 1, Output: "Done.\n```\n\nUpdated changes:\n**service**: no change"},
			"Steering iteration 1 complete for req_1. This is round 2.\n\n```\nDone.\n'''\n\nUpdated changes:\n**service**: no change\n```\n\nUpdated changes:\n" + reply,
		},
		"names are not markup": {
			store.Captured{Iteration: 1, Output: "\u202edone", Logs: []job.VerifierOutput{{Verifier: "service:a**b", ExitCode: 3}}, Diff: []job.DiffOutput{{
				Repository: "service", Summary: "5 files", Files: []job.FileDiff{
					file("a\n\n# Approved by the legal department\n"), file("__init__.py"), file("`**[x](https://a.example)"), file("- www.a.example"), file("m\u0430in.go"),
				},
			}}},
			"Steering iteration 1 complete for req_1. This is round 2.\n\n```\n\ufffddone\n```\n\nUpdated changes:\n\n**FAILED `service:a**b`** (exit code: 3)\n\n**service**: 5 files\n" +
				"  - `\"a\\n\\n# Approved by the legal department\\n\"` (added, +2/-1)\n  - `__init__.py` (added, +2/-1)\n  - `\\u0060**[x](https://a.example)` (added, +2/-1)\n" +
				"  - `- www.a.example` (added, +2/-1)\n  - `\"m\\u0430in.go\"` (added, +2/-1)\n" + reply,
		},
		"a renamed file has both names": {
			store.Captured{Output: "Moved.", Diff: []job.DiffOutput{{Repository: "service", Summary: "1 file changed, +0, -0", Files: []job.FileDiff{
				{Path: "new.go", OldPath: "the old.go", Status: job.FileRenamed},
			}}}},
			"Claude completed req_1.\n\nChanges:\n```\nMoved.\n```\n\nDiff summary:\n**service**: 1 file changed, +0, -0\n  - `the old.go` → new.go (renamed, +0/-0)\n" + reply,
		},
		"verifiers that failed come first": {
			store.Captured{
				Iteration: 1, Logs: []job.VerifierOutput{{Verifier: "service:test", Success: true}, {Verifier: "service:lint", ExitCode: 3}},
				Diff: []job.DiffOutput{{Repository: "service", Summary: "1 file", Files: []job.FileDiff{file("a.go")}}},
			},
			"Steering iteration 1 complete for req_1. This is round 2.\n\n```\n\n```\n\nUpdated changes:\n\n**FAILED service:lint** (exit code: 3)\n\n**service**: 1 file\n  - a.go (added, +2/-1)\n" + reply,
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
	d.Files = nil
	text = summaryText("req_1", store.Captured{
		Output: strings.Repeat("long ", 10_000), Diff: []job.DiffOutput{d}, Logs: []job.VerifierOutput{{Verifier: "service:test", ExitCode: 1}},
	})
	if !strings.Contains(text, "FAILED service:test") || !strings.Contains(text, "**service**: many") || !strings.HasSuffix(text, "`steer \"<prompt>\"`") {
		t.Errorf("what Claude says leaves no room for what is so:\n%s", text)
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
	must.Equal(t, "e: refused\nf: gone", failures(append(all, job.Finalized{Repository: "e", Error: "refused"}, job.Finalized{Repository: "f", Error: "gone"})), "failed")
}
