package cli_test

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"ringback/internal/cli"
)

// commandLines returns each command of the tree, by its words, with what it needs behind its target.
func commandLines(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	all := map[string]*cobra.Command{}
	var walk func(before string, list []*cobra.Command)
	walk = func(before string, list []*cobra.Command) {
		for _, c := range list {
			all[before+c.Name()] = c
			walk(before+c.Name()+" ", c.Commands())
		}
	}
	walk("", cli.Commands(newConsole(t, "").defaults))
	if len(all) < 30 {
		t.Fatalf("found %d commands", len(all))
	}
	return all
}

// behind are the arguments that make a command complete behind its target.
var behind = map[string][]string{
	"approve": {"--yes", "--no-wait"}, "reject": {"--yes"}, "cancel": {"--yes"}, "retry": {"--yes"}, "move": {"--yes"},
	"steer": {"-p", "More"}, "interrupt": {"Not this"}, "reply": {"yes", "--yes"}, "say": {"Hello"},
}

// lastRun returns a server with a job that waits, which was run last, and its terminal. Every other id is
// unknown to the server, as those of other users are.
func lastRun(t *testing.T) (*stub, *console) {
	t.Helper()
	f := newStub(t)
	f.answers["GET /api/jobs"], f.answers["GET /api/checkpoints"] = `{"jobs":[]}`, `{"checkpoints":[]}`
	f.answers["GET /api/approvals"] = `{"approvals":[]}`
	f.answers["GET /api/jobs/"+jobID] = underReview
	for path := range f.answers {
		if strings.Contains(path, "questionsquestion") || strings.Contains(path, "approvalapproval") {
			delete(f.answers, path)
		}
	}
	s := newConsole(t, f.URL)
	s.run(t, "run", "note", "--no-wait")
	f.asked = nil
	return f, s
}

// changes returns the requests of a server that have changed something.
func (f *stub) changes() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, line := range f.asked {
		if _, known := f.answers[line]; known && !strings.HasPrefix(line, "GET ") {
			all = append(all, line)
		}
	}
	return all
}

// A target that is empty, nearly right or of somebody else is refused by every command, and none
// changes the job that was run last instead.
func TestNoCommandFallsOnAnotherJob(t *testing.T) {
	t.Parallel()
	wrong := []string{
		"", " ", "\t", "req_01_abcdefghijklmnopqrstuvwxyy", "req_05_foreignforeignforeignforei", "chk_03_questionsquestionsquestion",
		jobID + ",", "`" + jobID + "`", jobID + "x", "rqe" + jobID[3:], "zzzzzzzz", "req_01_zzzzzzzz", "..", jobID + "/cancel",
	}
	for name, c := range commandLines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := lastRun(t)
			for _, target := range wrong {
				if name == "run" && strings.TrimSpace(target) != "" { // it takes a kind
					continue
				}
				lines := [][]string{slices.Concat(strings.Fields(name), []string{target}, behind[name])}
				for _, flag := range []string{"request-id", "workflow-id", "session"} {
					if c.Flags().Lookup(flag) != nil && name != "run" {
						lines = append(lines, slices.Concat(strings.Fields(name), []string{"--" + flag, target}, behind[name]))
					}
				}
				for _, line := range lines {
					f.refuses(t, s, line, target)
				}
			}
		})
	}
}

// refuses runs a command with a wrong target, without a terminal and at one where all questions are left
// unanswered.
func (f *stub) refuses(t *testing.T, s *console, line []string, target string) {
	t.Helper()
	for _, isTyped := range []bool{false, true} {
		s.defaults.TypedFunc = func(io.Reader) bool { return isTyped }
		f.asked = nil
		got := s.run(t, line...)
		if changed := f.changes(); got.code == 0 || len(changed) > 0 {
			t.Errorf("%q (typed: %t): exit code %d, changed %v, says %q", line, isTyped, got.code, changed, got.stderr)
		}
		beginsText := (target == "zzzzzzzz" || target == "..") && (line[0] == "say" || line[0] == "reply")
		isName := line[0] == "context" && line[1] == "set"
		before := line[0] == "interrupt" && strings.HasPrefix(line[1], "--") // the message is taken as another target
		if !beginsText && !isName && !before && !strings.Contains(got.stderr, strings.TrimSpace(target)) {
			t.Errorf("%q (typed: %t) does not name it: %q", line, isTyped, got.stderr)
		}
	}
}

// Without a target, a command changes nothing unless a person has seen the job and agreed.
func TestNoCommandHasADefault(t *testing.T) {
	t.Parallel()
	f, s := lastRun(t)
	for name := range commandLines(t) {
		if slices.Contains([]string{"run", "resend", "kinds reload", "watch"}, name) { // the first three have no job, the last goes on
			continue
		}
		args := slices.DeleteFunc(slices.Clone(behind[name]), func(arg string) bool { return arg == "Not this" })
		for _, isTyped := range []bool{false, true} {
			s.defaults.TypedFunc = func(io.Reader) bool { return isTyped }
			s.stdin = "\n"
			f.asked = nil
			s.run(t, append(strings.Fields(name), args...)...)
			if changed := f.changes(); len(changed) > 0 {
				t.Errorf("%s %v (typed: %t): changed %v", name, args, isTyped, changed)
			}
		}
	}
}

// Nothing that the server sends reaches a terminal as a control character, with any command in any
// format; in JSON not even a pipe.
func TestNoOutputControlsATerminal(t *testing.T) {
	t.Parallel()
	const evil = `\u001b[2J\u009b31m\u0085\u202e\r` + "\u0080\u009b31m\u202e\u2066\u200f\u061c\u2028"
	for name := range commandLines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := lastRun(t)
			for path, answer := range newStub(t).answers {
				f.answers[path] = poisoned(answer, evil)
			}
			f.answers["GET /api/jobs/"+jobID] = poisoned(underReview, evil)
			if name == "watch" { // it would go on
				f.answers["GET /api/jobs/"+jobID] = poisoned(received, evil)
			}
			for i, e := range f.events {
				f.events[i] = poisoned(e, evil)
			}
			for format, columns := range map[string]int{"--output=table": 80, "--output=json": 80, "-o=json": 0, "--jq=.": 80, "--jq=..|strings": 80} {
				args := slices.Concat(strings.Fields(name), targetOf[name], behind[name], []string{format})
				got := s.onTerminal(columns).run(t, args...)
				for _, r := range drawn.ReplaceAllString(got.stdout+got.stderr, "") {
					if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028') {
						t.Errorf("%q prints %q: %.300q", args, r, got.stdout+got.stderr)
						break
					}
				}
			}
		})
	}
}

// drawn matches what Ringback itself draws with on a terminal.
var drawn = regexp.MustCompile(`\r\x1b\[K|\x1b\[[0-9]*m`)

// targetOf are the targets of commands.
var targetOf = map[string][]string{
	"run": {"note"}, "kinds": {"note"}, "reply": {"chk_03_questionsquestionsquestion"}, "say": {"--session", "s1"}, "messages": {"s1"},
	"revoke": {"apr_03_approvalapprovalapprovalap"}, "resend": {"msg_1"},
	"status": {jobID}, "diff": {jobID, "--full", "--no-pager"}, "logs": {jobID}, "audit": {jobID}, "transcript": {jobID}, "callback": {jobID}, "open": {jobID}, "watch": {jobID},
	"approve": {jobID}, "reject": {jobID}, "cancel": {jobID}, "retry": {jobID}, "move": {jobID}, "steer": {jobID}, "interrupt": {jobID},
}

// poisoned returns an answer with a text in each of its words for people.
func poisoned(answer, evil string) string {
	for _, field := range []string{"message", "content", "error", "hint", "title", "description", "prompt", "summary", "stdout", "stderr", "path", "diff", "name", "kind", "text", "verifier", "repository", "suspicious", "rule", "event", "reasoning", "address", "userId"} {
		answer = strings.ReplaceAll(answer, `"`+field+`":"`, `"`+field+`":"`+evil)
	}
	return answer
}
