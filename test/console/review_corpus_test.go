package console

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// changeScript extracts a change from its page: only what a person sees of it.
const changeScript = `(() => {
	document.styleSheets[0].insertRule(".patch { content-visibility: visible !important }");
	const texts = (root, selector) => [...root.querySelectorAll(selector)].map(one => one.innerText.replace(/\n$/, ""));
	return JSON.stringify({
		files: [...document.querySelectorAll(".patch")].map(one => ({ name: one.querySelector("summary > code").innerText, note: texts(one, ".help, .warn, .tag, .note td").join(" "), lines: texts(one, "tr.add .t") })),
		listed: texts(document, ".filetree .name"),
		checks: texts(document, "#logs pre"), passed: texts(document, "#logs .state"),
		headings: texts(document, "h1, h2, h3"), buttons: [...document.querySelectorAll("main button:not(.tick)")].map(one => one.innerText),
		foreign: [...document.querySelectorAll(".patch .t :not(span, mark), .patch summary > code *, .filetree .name *, #logs pre *, #rounds li > p :not(b), #logs summary code *, #decide :is(a, img, h3, table, s, del, hr, strong em)")].map(one => one.outerHTML),
		attention: document.querySelector("#attention").innerText, question: document.querySelector("#decide .prose").innerText,
	});
})()`

// seenChange is the result of changeScript.
type seenChange struct {
	Files []struct {
		Name, Note string
		Lines      []string
	}
	Listed, Checks, Passed, Headings, Buttons, Foreign []string
	Attention, Question                                string
}

// named returns the file name that a person reads.
func named(t testing.TB, shown string) string {
	t.Helper()
	if !strings.HasPrefix(shown, `"`) {
		return shown
	}
	var name string
	if err := json.Unmarshal([]byte(shown), &name); err != nil || hidden(shown) {
		t.Fatalf("%q is no name: %v", shown, err)
	}
	return name
}

// hostileChange creates a stand-in for Claude that adds files with every fragment as the
// name and every text of the corpus as the content, and makes changes that are easily
// overlooked. It returns the content by name.
func hostileChange(t testing.TB) (claude string, added map[string]string) {
	t.Helper()
	dir := t.TempDir()
	added = map[string]string{}
	for _, fragment := range fragments {
		var content []string
		for _, frame := range around {
			content = append(content, strings.Replace(frame, "%s", fragment, 1))
		}
		name := strings.ReplaceAll(fragment, "/", "∕")
		text := strings.ReplaceAll(strings.Join(content, "\n"), "\x00", "") + "\n."
		if name == "" || len(name) > 200 || strings.Contains(name, "\x00") {
			name = "f" + strings.Repeat("_", len(added))
		}
		added["service/"+name] = text
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600))
	}
	added["service/ends.txt"] = "one\r\ntwo"
	must.OK(t, os.WriteFile(filepath.Join(dir, "ends.txt"), []byte(added["service/ends.txt"]), 0o600))
	must.OK(t, os.Symlink("/etc/passwd", filepath.Join(dir, "\u202eusers")))
	claude = filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, claude, strings.Join([]string{
		"#!/bin/bash", "cd service && cp -a " + dir + "/. . || exit", "mv .env notes && echo B=2 >> notes", "chmod +x greeting.txt", ": > empty",
		`printf 'x\0y' > binary.txt`, "mkdir nested && git -C nested init --quiet && git -C nested -c user.name=x -c user.email=x@a.example commit --quiet --allow-empty --message '# Approved'",
		"cd ..", harness.SubmitsChange,
	}, "\n"))
	return claude, added
}

// Whatever the names and contents of files are, what a person sees of a change is what
// would be published, and none of it can be mistaken for anyone else's words.
func TestWhatIsSeenOfAChangeIsWhatItIs(t *testing.T) {
	t.Parallel()
	claude, added := hostileChange(t)
	s := start(t, harness.Vars{"CLAUDE_BIN": claude})
	said := strings.Join(fragments, "\n")
	must.OK(t, os.WriteFile(filepath.Join(filepath.Dir(claude), "said"), []byte(said), 0o600))
	id := create(t, s, harness.Object{"kind": "code-change", "userId": "u1", "input": harness.Object{
		"prompt": "# Approved", "require_approval": true, "repos": []any{harness.Object{"url": repository(t, map[string]string{"greeting.txt": "hello\n", "ends.txt": "one\ntwo\n", ".env": strings.Repeat("A=1\n", 50)})}},
		"verifiers": []any{harness.Object{"name": "fine", "command": "true"}, harness.Object{"name": "says", "command": "cat " + filepath.Dir(claude) + "/said; false"}},
	}})
	harness.Eventually(t, "the review", func() bool { return record(t, s, id)["status"] == "awaiting_approval" })
	b := open(t, s, "/jobs/"+id+"/review")
	var seen seenChange
	must.OK(t, json.Unmarshal([]byte(b.value(changeScript)), &seen))
	if len(seen.Foreign) > 0 {
		t.Errorf("elements that the page has not made: %q", seen.Foreign)
	}
	for what, pair := range map[string][2][]string{
		"headings": {{`"# Approved" needs approval`, "Checks", "Look twice", "Have it changed", "Decide on round 1 of at most 6", "Keys"}, slices.DeleteFunc(seen.Headings, ours)},
		"buttons":  {{"Cancel the job", "Start another round", "Approve all 145 files", "Reject the change"}, seen.Buttons}, "checks": {{"failed (1)", "passed"}, seen.Passed},
	} {
		must.Equal(t, pair[0], pair[1], "the", what)
	}
	onTheTerminal := addedOnTerminal(t, onTerminal(t, s, 200, "diff", id, "--full", "--no-pager"))
	for name, text := range added {
		must.Equal(t, withoutSpaces(text), onTheTerminal[name], name, "holds", text, "and the terminal shows")
	}
	notes := map[string]string{}
	for i, f := range seen.Files {
		name := f.Name
		if from, to, renamed := strings.Cut(name, " → "); renamed {
			name = named(t, from) + " → " + named(t, to)
		} else {
			name = named(t, name)
			must.Equal(t, name, named(t, seen.Listed[i]), "is listed as")
		}
		notes[name] = f.Note + "\n" + strings.Join(f.Lines, "\n")
		if text, ok := added[name]; ok {
			delete(added, name)
			must.Equal(t, text, written(t, f.Lines), name, "holds", "and is shown with")
		}
	}
	for name := range added {
		t.Errorf("%q is not shown", name)
	}
	must.Contain(t, notes["service/ends.txt"], "No newline at end of file", "a missing newline is shown with")
	for name, want := range map[string]string{
		"service/.env → service/notes": "former name", "service/\u202eusers": "symbolic link", "service/greeting.txt": "100644→100755", "service/binary.txt": "Binary", "service/empty": "No lines changed",
		"service/nested": "repository of its own",
	} {
		if note, ok := notes[name]; !ok || !strings.Contains(note, want) {
			t.Errorf("%q is shown with %q (%v), want %q", name, note, ok, want)
		}
		if strings.HasSuffix(name, "notes") && !strings.HasSuffix(notes[name], "\nB=2") {
			t.Errorf("what was changed in a renamed file is %q", notes[name])
		}
		if _, name, _ := strings.Cut(name, " → "); name != "" && !strings.Contains(seen.Attention, name) {
			t.Errorf("%q is not among what to look at twice", name)
		}
	}
	for _, one := range append(slices.Clone(seen.Checks), seen.Question) {
		if strings.ContainsAny(one, "\x1b\u202e\u200b") {
			t.Errorf("it holds characters that are not seen: %q", one)
		}
	}
	reportForgery(t, s, b)
	if len(seen.Checks) != 1 || strings.Count(seen.Checks[0], "\n") < len(fragments) {
		t.Errorf("the checks say %q", seen.Checks)
	}
}

// forgedReport is a summary of a change that imitates ours. Each of its lines contains FORGED.
const forgedReport = "FORGED\n[PASS] FORGED (exit code: 0)\nRepository: FORGED\n  Summary: FORGED\n# FORGED\n<h1>FORGED</h1>\n```\n## FORGED\n~~~\n\x1b[1AFORGED\n\rFORGED\u202eFORGED\n```\n\nDiff summary:\n**FORGED**: 0 files FORGED\nReply: `approve` FORGED\n[FORGED](https://a.example)"

// wordsOfOthers finds them in what the page says itself: not in code, nor in what Claude or a person
// says in the conversation and the result.
const wordsOfOthers = `[...document.querySelectorAll("main :is(h1, h2, h3, h4, strong, a, dt, button, #logs summary)")].filter(one => {
	const own = one.cloneNode(true);
	own.querySelectorAll("code").forEach(code => code.remove());
	return !one.closest("#conversation .prose, #result .prose, #asked") && /FORGED|Approved|\u202e|\u0430/.test(own.textContent);
}).map(one => one.outerHTML).join("\n")`

// reportForgery makes a change whose summary and verifiers' names imitate our words, and checks where a
// person decides on it.
func reportForgery(t *testing.T, s *harness.Server, b *tab) {
	t.Helper()
	var verifiers []any
	for _, name := range []string{"x passed 3 ms</code><h2>Approved</h2>", "x\n[PASS] all", "**x** [y](https://a.example)", "x\u202e(0 :edoc tixe)", "p\u0430ss"} {
		verifiers = append(verifiers, harness.Object{"name": name, "command": "false"})
	}
	id := create(t, s, harness.Object{"kind": "code-change", "userId": "u2", "options": harness.Object{"simulate": "manual"}, "input": harness.Object{
		"prompt": "# Approved", "repos": []any{harness.Object{"url": repository(t, map[string]string{"a": "a\n"})}}, "verifiers": verifiers,
	}})
	harness.Eventually(t, "the repository", func() bool { return record(t, s, id)["phase"] == "claude" })
	values := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id + "/callback"})
	callback(t, s, "/api/claude/result", harness.Object{"requestId": id, "hmac": values["hmac"]}, harness.Object{"summary": forgedReport})
	harness.Eventually(t, "the review", func() bool { return record(t, s, id)["status"] == "awaiting_approval" })
	for _, place := range []string{"/jobs/" + id + "/review", "/inbox/" + questionOf(t, s, id), "/inbox", "/jobs/" + id} {
		b.visit(place)
		b.sees("FORGED")
		must.Equal(t, "", b.value(wordsOfOthers), "on", place, "words of others are")
	}
	for _, args := range [][]string{{"status", id}, {"inbox"}} {
		for row := range strings.SplitSeq(onTerminal(t, s, 120, args...), "\n") {
			marked := strings.HasPrefix(row, "  │ ")
			if hidden(strings.TrimRight(row, " ")) || args[0] == "status" && strings.Contains(row, "FORGED") && !marked || strings.HasPrefix(row, "[PASS]") {
				t.Errorf("ringback %s has the row %q", args[0], row)
			}
		}
	}
}

// addedOnTerminal returns the lines that a terminal shows as added, by file and without spaces.
func addedOnTerminal(t testing.TB, screen string) map[string]string {
	t.Helper()
	var lines []string
	for row := range strings.SplitSeq(screen, "\n") {
		if hidden(row) {
			t.Errorf("a row of the terminal contains characters that are not visible: %q", row)
		}
		row = strings.TrimRight(row, " ")
		if rest, goesOn := strings.CutPrefix(row, "┆ "); goesOn && len(lines) > 0 {
			lines[len(lines)-1] += rest
			continue
		}
		lines = append(lines, row)
	}
	added, name, inHunk := map[string][]string{}, "", false
	for _, line := range lines {
		header, isHeader := strings.CutPrefix(line, "+++ ")
		switch {
		case strings.HasPrefix(line, "diff "):
			inHunk = false
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case isHeader && !inHunk:
			name = written(t, []string{header})
			if unquoted, err := strconv.Unquote(name); err == nil {
				name = unquoted
			}
			name = "service/" + strings.TrimPrefix(name, "b/")
		case inHunk && strings.HasPrefix(line, "+"):
			added[name] = append(added[name], line[1:])
		}
	}
	all := map[string]string{}
	for name, lines := range added {
		all[name] = withoutSpaces(written(t, lines))
	}
	return all
}

// withoutSpaces removes spaces and tabs: a terminal shows tabs as spaces, and pads its rows with them.
func withoutSpaces(text string) string { return strings.NewReplacer(" ", "", "\t", "").Replace(text) }

// ours reports whether a heading consists of the job's kind or of numbers.
func ours(heading string) bool {
	return strings.HasPrefix(heading, "code-change ") || strings.HasPrefix(heading, "145 files ")
}
