package notify_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/internal/people/notify"
	"ringback/internal/text/literal"
	"ringback/test/must"
)

func TestSlackSignature(t *testing.T) {
	t.Parallel()
	const secret = "the signing secret of an app"
	body := []byte("user_id=U1&text=approve")
	then := time.Unix(1_700_000_000, 0)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + strconv.FormatInt(then.Unix(), 10) + ":" + string(body)))
	header := http.Header{}
	header.Set("X-Slack-Request-Timestamp", strconv.FormatInt(then.Unix(), 10))
	header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	must.OK(t, notify.VerifySlack(secret, header, body, then.Add(time.Minute)))
	for name, err := range map[string]error{
		"an old request": notify.VerifySlack(secret, header, body, then.Add(6*time.Minute)),
		"another secret": notify.VerifySlack("x", header, body, then),
		"another body":   notify.VerifySlack(secret, header, []byte("user_id=U2&text=approve"), then),
		"no signature":   notify.VerifySlack(secret, http.Header{"X-Slack-Request-Timestamp": {"1700000000"}}, body, then),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestSlackCommands(t *testing.T) {
	t.Parallel()
	const id, asked = "req_07_abcdefghijklmnopqrstuvwxyz", "chk_07_abcdefghijklmnopqrstuvwxyz"
	steers := 1 // before the second round
	reject, steer := notify.SlackCommand{Verb: "reject", RequestID: id, Text: "not yet"}, notify.SlackCommand{Verb: "steer", RequestID: id, Text: "add a test"}
	for text, want := range map[string]notify.SlackCommand{
		"Approve " + id + " 2":         {Verb: "approve", RequestID: id, Iteration: &steers},
		"approve " + asked:             {Verb: "approve", CheckpointID: asked},
		"`approve` `" + asked + "`":    {Verb: "approve", CheckpointID: asked},
		"reject " + asked + " not yet": {Verb: "reject", CheckpointID: asked, Text: "not yet"},
		"reject chk_ABCDEFGH not yet":  {Verb: "reject", CheckpointID: "abcdefgh", Text: "not yet"},
		"reject abcdefgh not yet":      {Verb: "reject", RequestID: "abcdefgh", Text: "not yet"},
		"reject req_abcdefgh":          {Verb: "reject", RequestID: "abcdefgh"},
		"reject " + id[:20]:            {Verb: "reject", RequestID: job.ID(id[:20])},
		"cancel " + id + ".":           {Verb: "cancel", RequestID: id},
		"status\n" + id:                {Verb: "status", RequestID: id},
		"":                             {Verb: "help"},
		// The id of a job, as people write it.
		"reject " + id + " not yet":                               reject,
		"reject " + id + ", not yet":                              reject,
		"reject " + id + ": not yet":                              reject,
		"reject  " + id + "\nnot yet":                             reject,
		"reject " + id + "\u00a0not yet":                          reject,
		"reject `" + id + "` not yet":                             reject,
		"reject “" + id + "” not yet":                             reject,
		"reject *" + id + "*: not yet":                            reject,
		"reject <" + id + "> not yet":                             reject,
		"reject (" + id + "), not yet":                            reject,
		"reject " + strings.ToUpper(id) + " not yet":              reject,
		"reject " + id + "\u200b not yet":                         reject,
		"reject https://h.example/jobs/" + id + "/review not yet": reject,
		"reject <https://h.example/~p/jobs/" + id + "?q=1#x|h.example/jobs…> not yet": reject,
		"steer " + id + " “add a test”":                                               steer,
		"steer " + id + ": add a test":                                                steer,
		"steer `" + id + "`\nadd a test":                                              steer,
	} {
		got, err := notify.ParseSlack([]byte(url.Values{"text": {text}}.Encode()))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	}
	for _, text := range []string{
		"dance", "approve everything", "yes approve", " approve ", "`approve`", "Approve",
		"approve " + id, "approve " + id + " two", "approve " + id + " -1", "approve " + id + " +1", "approve " + id + " 01", "approve " + id + " 1.0", "approve " + id + " 1 2", "approve " + id + " 99999",
		"approve 1", "approve 1 " + id, "approve " + id + " " + asked, "approve " + asked + " " + id, "approve " + asked + " 1", "approve " + asked + " yes", "approve " + asked[:20], "approve x" + asked, "approve " + id + " ١",
		"approve abcdefgh 1", "approve " + id[:20] + " 1", "approve " + strings.ToUpper(asked), "approve chk_abcdefgh",
		"steer " + id, "steer " + id + " “”", "cancel " + id + " now", "cancel " + asked, "status " + asked, "cancel " + id + " " + id,
	} {
		refused(t, text)
	}
}

// A word that is nearly an id is not part of a text for another job.
func TestSlackCommandsHaveNoDefault(t *testing.T) {
	t.Parallel()
	const id = "req_07_abcdefghijklmnopqrstuvwxyz"
	for _, target := range []string{
		"", "\u00a0", "not now", "“add a test”", "the job", ",", "``", "<>", id + ",because", id + "a", id[:8], id[:7] + "." + id[7:], "req-07-" + id[7:], "rqe_07_" + id[7:], "req_zz_" + id[7:],
		"r\u0435q_07_" + id[7:], "req_07_" + strings.Repeat("1", 26), "req_07_\u200b" + id[7:], "req", "req_", "chk_", "job " + id, "/jobs/", "https://h.example/jobs/", "https://h.example/" + id, "<@U1> " + id, ": " + id, "apr_07_" + id[7:],
	} {
		for _, verb := range []string{"reject", "steer", "cancel", "status", "approve"} {
			refused(t, verb+" "+target)
			if verb == "reject" || verb == "steer" {
				refused(t, verb+" "+target+" not this way")
			}
		}
	}
}

func refused(t *testing.T, text string) {
	t.Helper()
	if got, err := notify.ParseSlack([]byte(url.Values{"text": {text}}.Encode())); err == nil {
		t.Errorf("%q was read as %+v", text, got)
	}
}

// blocksOf returns the texts of a message's blocks.
func blocksOf(t *testing.T, message []byte) []string {
	t.Helper()
	var sent struct {
		Blocks []struct{ Text struct{ Text string } }
	}
	must.OK(t, json.Unmarshal(message, &sent))
	texts := make([]string, len(sent.Blocks))
	for i, b := range sent.Blocks {
		texts[i] = b.Text.Text
	}
	return texts
}

func TestSlackMessagesKeepWithinBounds(t *testing.T) {
	t.Parallel()
	text := must.Get(slackQuestion(job.Checkpoint{Type: job.Review, Message: strings.Repeat("a line & <more>\n", 1000)}))(t)
	blocks := blocksOf(t, text)
	for _, b := range blocks {
		if len(b) > 3000 || strings.Contains(b, "<more>") {
			t.Errorf("a block of %d bytes: %.40s", len(b), b)
		}
	}
	if n := len(blocks); n == 0 || n > 50 {
		t.Errorf("%d blocks", n)
	}
}

// A long text continues in the next block with the character at which it was split.
func TestSlackMessagesSplitNoLetter(t *testing.T) {
	t.Parallel()
	for name, letter := range map[string]string{"of two bytes": "ü", "of three": "界", "of four": "🙂"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := "x" + strings.Repeat(letter, 2000)
			text := must.Get(slackQuestion(job.Checkpoint{Type: job.Review, Message: want}))(t)
			want += "\n\nThe change itself is in the console (/jobs//review), or: ringback diff --full \n\nIn Slack, allow exactly this with: /ringback approve "
			if got := strings.ReplaceAll(strings.Join(blocksOf(t, text), ""), "… ", ""); got != want {
				t.Errorf("the blocks together are %d bytes, the text is %d; %d letters are broken", len(got), len(want), strings.Count(got, "\uFFFD"))
			}
		})
	}
}

// Untrusted text is not interpreted as Slack markup, and is complete or cannot be approved
// in Slack.
func TestSlackShowsAllOfAQuestion(t *testing.T) {
	t.Parallel()
	asked := func(command string) job.Checkpoint {
		props := must.Get(json.Marshal(job.Props{ToolName: "Bash", ToolInput: mustJSON(t, map[string]string{"command": command})}))(t)
		return job.Checkpoint{ID: "chk_1", Type: job.ToolApproval, Message: "cut", Props: props}
	}
	text, err := slackQuestion(asked("*bold* <!here> ~x~\u202e; reboot"))
	must.OK(t, err)
	got := strings.Join(blocksOf(t, text), "")
	if !strings.Contains(string(text), `"plain_text"`) || strings.Contains(string(text), `"type":"mrkdwn"`) || !strings.Contains(got, `"command": "*bold* &lt;!here&gt; ~x~\u202e; reboot"`) || !strings.Contains(got, "/ringback approve chk_1") {
		t.Errorf("the message is %s", text)
	}
	long := asked(strings.Repeat("# harmless\n", 3000) + "reboot")
	if text, err = slackQuestion(long); err != nil || !notify.SlackOmits(long, "") || strings.Contains(string(text), "/ringback approve chk_1") || !strings.Contains(string(text), "/inbox/chk_1") {
		t.Errorf("a question that is cut can be allowed: %.500s", text)
	}
	lines := asked(strings.Repeat("<\n", 2200) + "reboot")
	if text, err = slackQuestion(lines); err != nil || notify.SlackOmits(lines, "") || !strings.Contains(strings.Join(blocksOf(t, text), ""), "reboot") {
		t.Errorf("the end of a question is missing: %.500s", text)
	}
}

// What Claude reports of a change, and of the end of a job, cannot become markup either, however long
// it is.
func TestWhatClaudeReportsIsNoSlackMarkup(t *testing.T) {
	t.Parallel()
	said := strings.Repeat("&", 400) + "\n*All checks passed* :white_check_mark: <https://a.example|PR created>"
	review := job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.Review, Message: "Claude completed req_1.\n\nChanges:\n```\n" + said + "\n```\n\nDiff summary:\n**service**: 1 file"}
	change := job.Job{ID: "req_1", State: job.Received, Published: true, Result: mustJSON(t, map[string]any{"summary": said, "finalized": []job.Finalized{{Repository: "service", URL: "https://github.com/o/r/pull/7"}}})}
	failed := job.Job{ID: "req_1", State: job.Failed, Error: said}
	for name, made := range map[string]func() ([]byte, error){
		"a review": func() ([]byte, error) { return slackQuestion(review) }, "a result": func() ([]byte, error) { return notify.SlackEnd(change) }, "a failure": func() ([]byte, error) { return notify.SlackEnd(failed) },
	} {
		text, err := made()
		var sent struct {
			Blocks []struct {
				Text struct {
					Type, Text string
					Emoji      *bool
				}
			}
		}
		if err != nil || json.Unmarshal(text, &sent) != nil {
			t.Fatalf("%s: %s %v", name, text, err)
		}
		var all strings.Builder
		for _, b := range sent.Blocks {
			all.WriteString(b.Text.Text)
			if ours := b.Text.Text == "\nPR created: <https://github.com/o/r/pull/7>"; !ours && (b.Text.Type != "plain_text" || b.Text.Emoji == nil || *b.Text.Emoji) {
				t.Errorf("%s: a block is %s: %.300q", name, b.Text.Type, b.Text.Text)
			}
		}
		shown := strings.ReplaceAll(all.String(), "\n│ ", "\n")
		must.Contain(t, shown, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(said), name)
	}
}

// Only what the server has published is told as published, whatever a result or the name of a repository says.
func TestOnlyTheServerTellsWhatWasPublished(t *testing.T) {
	t.Parallel()
	result := func(f job.Finalized) json.RawMessage {
		return mustJSON(t, map[string]any{"summary": "Done.", "finalized": []job.Finalized{f}})
	}
	const said = "\nClaude's result:\n│ Done."
	for name, c := range map[string]struct {
		job  job.Job
		want []string
	}{
		"a change that was pushed": {job.Job{Published: true, Result: result(job.Finalized{Repository: "service", Branch: "ringback/req_1", Commit: "abc"})}, []string{
			"Job req_1 (ship) is received.\nservice: pushed to ringback/req_1", said,
		}},
		"a pull request": {job.Job{Published: true, Result: result(job.Finalized{Repository: "service", Branch: "b", Commit: "abc", URL: "https://a.example/7"})}, []string{
			"Job req_1 (ship) is received.\nservice: pushed to b", "\nPR created: <https://a.example/7>", said,
		}},
		"an address that would be a link with another text": {job.Job{Published: true, Result: result(job.Finalized{URL: "https://a.example/7|*approved*>"})}, []string{
			"Job req_1 (ship) is received.", "\nPR created: <https://a.example/7%7C*approved*&gt;>", said,
		}},
		"a repository whose name is a link": {job.Job{Published: true, Result: result(job.Finalized{Repository: "<https://a.example|service>", Branch: "b", Commit: "abc"})}, []string{
			"Job req_1 (ship) is received.\n&lt;https://a.example|service&gt;: pushed to b", said,
		}},
		"a result of Claude's that looks like one": {job.Job{Result: result(job.Finalized{Repository: "<https://a.example|All checks passed>", Branch: "b", Commit: "abc", URL: "https://a.example/7"})}, []string{
			"Job req_1 (ship) is received.", said,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.job.ID, c.job.Kind, c.job.State = "req_1", "ship", job.Received
			must.Equal(t, c.want, blocksOf(t, must.Get(notify.SlackEnd(c.job))(t)))
		})
	}
}

func mustJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	return must.Get(json.Marshal(v))(t)
}

// What is elsewhere is a link that names its host; Slack is to fetch nothing of it.
func TestSlackLinksToWhatAQuestionShows(t *testing.T) {
	t.Parallel()
	text, err := slackQuestion(job.Checkpoint{
		ID: "chk_1", RequestID: "req_1", Type: job.InformationRequest, Message: "Which?", Props: mustJSON(t, map[string]any{"image_url": "https://cdn.example/a?b=1&c=<x|y>", "images": []string{"my lake.png"}}),
	})
	must.OK(t, err)
	got := strings.Join(blocksOf(t, text), "")
	if !strings.HasSuffix(got, "<https://cdn.example/a?b=1&amp;c=%3Cx%7Cy%3E|Image at cdn.example>") || !strings.Contains(got, "Image my lake.png, in the console: /jobs/req_1/files/my%20lake.png") {
		t.Errorf("the message is %q", got)
	}
	must.Contain(t, string(text), `"unfurl_links":false,"unfurl_media":false`, "Slack may fetch what the message links to")
}

func TestTheTitleOfAnActionHeadsItsQuestion(t *testing.T) {
	t.Parallel()
	for question, head := range map[string]string{"Bring it out?": "Deploy to production\nBring it out?\n", "Deploy to production?": "Deploy to production?\n"} {
		c := job.Checkpoint{ID: "chk_1", Type: job.Confirmation, Message: question, Props: mustJSON(t, map[string]any{
			"action": "deploy", "title": "Deploy to production?", "asked": job.Asked{Segments: []job.Segment{{From: job.FromKind, Text: question}}},
		})}
		text := must.Get(slackQuestion(c))(t)
		if got := strings.Join(blocksOf(t, text), ""); !strings.HasPrefix(got, head) {
			t.Errorf("the message is %q", got)
		}
	}
}

func TestSlackOutcome(t *testing.T) {
	t.Parallel()
	came := job.NewOutcome(job.OutcomeFailed, "*disk* full\n<!channel> It ran.")
	asked := job.Checkpoint{
		ID: "chk_1", RequestID: "req_1", Type: job.Confirmation, Outcome: &came,
		Props: json.RawMessage(`{"action":"deploy","input":{},"asked":{"segments":[]}}`),
	}
	text := string(must.Get(notify.SlackOutcome(asked))(t))
	must.Contain(t, text, `deploy of job req_1 was allowed (chk_1). It failed: *disk* full \u0026lt;!channel\u0026gt; It ran.`)
	must.Contain(t, text, `"type":"plain_text"`)
}

// Every line that Ringback did not write follows a bar, below a line that names its author.
func TestNothingInSlackPosesAsRingback(t *testing.T) {
	t.Parallel()
	const ours = "In Slack, allow exactly this with: /ringback approve chk_2"
	preview := func(format job.PreviewFormat) json.RawMessage {
		return mustJSON(t, map[string]any{
			"action": "deploy", "asked": job.Asked{Segments: []job.Segment{{From: job.FromKind, Text: "Deploy?"}}},
			"preview": job.Preview{Format: format, Text: "x\n" + ours, Columns: []string{"x"}, Rows: [][]string{{ours}}},
		})
	}
	for name, made := range map[string]func(said string) ([]byte, error){
		"a question of Claude's": func(said string) ([]byte, error) {
			return slackQuestion(job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.InformationRequest, Message: said})
		},
		"a confirmation of Claude's": func(said string) ([]byte, error) {
			return slackQuestion(job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.Confirmation, Message: said})
		},
		"a question of another system's": func(said string) ([]byte, error) {
			return slackQuestion(job.Checkpoint{ID: "chk_1", Type: job.InformationRequest, Message: said})
		},
		"the summary of a review": func(said string) ([]byte, error) {
			return slackQuestion(job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.Review, Message: "Claude completed req_1.\n\nClaude's summary:\n```\n" + said + "\n```\n\nReply: `approve`"})
		},
		"the answer of a repository's host": func(said string) ([]byte, error) {
			return slackQuestion(job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.Review, Message: "It could not be published:\n\n    svc: " + strings.ReplaceAll(literal.Text(said), "\n", "\n    ") + "\n\nApprove to try again."})
		},
		"an input": func(said string) ([]byte, error) {
			return slackQuestion(job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.ToolApproval, Props: mustJSON(t, job.Props{ToolName: "Bash", ToolInput: mustJSON(t, map[string]string{"command": said})})})
		},
		"a value in a question": func(said string) ([]byte, error) {
			return slackQuestion(job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.Confirmation, Props: mustJSON(t, map[string]any{
				"action": "deploy", "asked": job.Asked{Segments: []job.Segment{{From: job.FromKind, Text: "Deploy "}, {From: job.FromValue, Text: literal.Value(said)}}},
			})})
		},
		"a preview": func(string) ([]byte, error) {
			return slackQuestion(job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.Confirmation, Props: preview(job.PreviewText)})
		},
		"a preview as a table": func(string) ([]byte, error) {
			return slackQuestion(job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.Confirmation, Props: preview(job.PreviewTable)})
		},
		"a result": func(said string) ([]byte, error) {
			return notify.SlackEnd(job.Job{ID: "req_1", State: job.Received, Result: mustJSON(t, map[string]string{"summary": said})})
		},
		"a failure": func(said string) ([]byte, error) {
			return notify.SlackEnd(job.Job{ID: "req_1", State: job.Failed, Error: said})
		},
	} {
		for _, before := range []string{
			"", "\n", "Which one?\n\n", "x\r\n", "x\r", "x\u2028", "x\u0085", "x\v", "\n│\n", strings.Repeat("x", 2900-len("\n│ ")), strings.Repeat("&", 579), strings.Repeat("ü\n", 1400), strings.Repeat("界", 967), strings.Repeat("x", 6000),
		} {
			blocks := blocksOf(t, must.Get(made(before+ours))(t))
			for _, block := range blocks[1:] {
				if !strings.HasPrefix(block, "\n") && !strings.HasPrefix(block, "… ") {
					t.Errorf("%s after %.20q: the rest of a line begins the block %.40q", name, before, block)
				}
			}
			shown := strings.Join(blocks, "\n")
			for line := range strings.Lines(strings.NewReplacer("\r", "\n", "\v", "\n", "\u2028", "\n", "\u0085", "\n").Replace(shown)) {
				if strings.HasPrefix(strings.TrimSpace(line), ours) {
					t.Errorf("%s after %.20q: a line is %q", name, before, line)
				}
			}
		}
	}
	for _, c := range []struct {
		id   job.ID
		want string
	}{{"req_1", "Claude asks:\n│ Which?\n│ A or B\n\nJob req_1 waits for the answer."}, {"", "Another system asks:\n│ Which?\n│ A or B\n\nJob"}} {
		text := must.Get(slackQuestion(job.Checkpoint{RequestID: c.id, Type: job.InformationRequest, Message: "Which?\nA or B"}))(t)
		must.Contain(t, strings.Join(blocksOf(t, text), ""), c.want)
	}
	review := job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.Review, Message: "Found:\n  - a.go\n\nClaude's summary:\n```\n  One.\n  Two.\n```\n\nReply: `approve`"}
	must.Contain(t, strings.Join(blocksOf(t, must.Get(slackQuestion(review))(t)), ""), "Found:\n  - a.go\n\nClaude's summary:\n│   One.\n│   Two.\n\nReply: `approve`\n\nThe change itself")
	call := job.Checkpoint{ID: "chk_1", RequestID: "req_1", Type: job.ToolApproval, Props: mustJSON(t, job.Props{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls"}`)})}
	must.Contain(t, strings.Join(blocksOf(t, must.Get(slackQuestion(call))(t)), ""), "with exactly this input:\n│ {\n│   \"command\": \"ls\"\n│ }\n\nJob req_1 waits")
	must.Equal(t, []string{"Job req_1 () is failed.\nThe reason:\n│ a\n│ b"}, blocksOf(t, must.Get(notify.SlackEnd(job.Job{ID: "req_1", State: job.Failed, Error: "a\nb"}))(t)))
}

// slackQuestion returns the message of a server that does not know its address.
func slackQuestion(c job.Checkpoint) ([]byte, error) { return notify.SlackQuestion(c, "") }

// Each link of a message leads to the address at which people reach the console, with its path.
func TestSlackLinksLeadToTheConsole(t *testing.T) {
	t.Parallel()
	const at = "https://a.example/ringback"
	for want, c := range map[string]job.Checkpoint{
		"(" + at + "/jobs/req_1/review)":    {ID: "chk_1", RequestID: "req_1", Type: job.Review, Message: "x"},
		"(" + at + "/inbox/chk_1)":          {ID: "chk_1", RequestID: "req_1", Type: job.Confirmation, Message: strings.Repeat("long ", 10_000)},
		": " + at + "/jobs/req_1/files/a b": {ID: "chk_1", RequestID: "req_1", Type: job.InformationRequest, Props: json.RawMessage(`{"files":["a b"]}`)},
	} {
		got := strings.Join(blocksOf(t, must.Get(notify.SlackQuestion(c, at))(t)), "")
		must.Contain(t, got, strings.ReplaceAll(want, "a b", "a%20b"))
		must.Equal(t, strings.Count(got, "/jobs/")+strings.Count(got, "/inbox/"), strings.Count(got, at+"/"), "the links are", got)
	}
}
