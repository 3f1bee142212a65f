package notify

import (
	"encoding/json"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/literal"
)

// Slack's limits: bytes of a block's text, and blocks of a message. A quoted row has at most maxRow bytes: it
// fits a block if each of them is escaped.
const (
	maxBlock  = 2900
	maxBlocks = 10
	maxRow    = 500
)

type slackText struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Emoji is false for plain text: :names: of emoji are shown as they were written.
	Emoji *bool `json:"emoji,omitempty"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// SlackQuestion returns a message to a Slack channel with a job's question, which leads to pages of the
// console. It is plain text, because untrusted text must not become Slack markup; not even in a code block, because the
// block ends where a long message is divided.
func SlackQuestion(c job.Checkpoint, pages job.Pages) ([]byte, error) {
	allow := "\n\nIn Slack, allow exactly this with: /ringback approve " + string(c.ID)
	text := asText(c, pages)
	switch {
	case c.Type == job.Review:
		text = job.ReviewWords(c.Message, barred) + "\n\nThe change itself is in the console (" + pages.Job(c.RequestID, "/review") +
			"), or: ringback diff --full " + string(c.RequestID) + allow
	case SlackOmits(c, pages):
		text = "This question cannot be shown whole in Slack, so it cannot be approved here. Look at all of it in the console (" +
			pages.Question(c.ID) + ") or with: ringback approve " + string(c.RequestID) + "\n\n" + text
	case c.Type.Binding():
		text += allow
	}
	return slackMessage(plain(text), links(c))
}

func asText(c job.Checkpoint, pages job.Pages) string {
	return literal.Text(question(c, pages)) + "\n\nJob " + string(c.RequestID) + " waits for the answer."
}

// question returns the question of a checkpoint, with the whole input that it is about.
func question(c job.Checkpoint, pages job.Pages) string {
	q := c.Question()
	text := job.Sentence(q.Segments)
	if c.Type == job.ToolApproval {
		text = "Claude wants to use " + q.Runs + "."
	}
	if asker := c.Asker(); asker != "" {
		text = asker + " asks:" + barred(text)
	}
	if q.Again != "" {
		text = q.Again + "\n" + text
	}
	if head := q.Head(); head != "" {
		text = head + "\n" + text
	}
	if q.Exact != "" {
		text += "\n\nA yes runs " + q.Runs + " with exactly this input:" + barred(q.Exact)
	}
	if made := job.PreviewIn(c.Props); made != nil {
		text += made.Words(func(p *job.Preview) string { return barred(strings.Join(p.Lines(), "\n")) })
	}
	return text + ownFiles(c, pages)
}

// barred returns what others than Ringback wrote, for display below a line that names its author. Each line
// follows a bar, so that none can pass for Ringback's own. A long line is divided here rather than between
// blocks.
func barred(text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(literal.Text(text), "\n") {
		for {
			row := excerpt.First(line, maxRow)
			out.WriteString("\n│ " + row)
			if line = line[len(row):]; line == "" {
				break
			}
		}
	}
	return out.String()
}

// ownFiles returns where the files of the job are that a question shows.
func ownFiles(c job.Checkpoint, pages job.Pages) string {
	var out strings.Builder
	for _, m := range c.Media() {
		if m.Host == "" {
			out.WriteString("\n\n" + m.Label() + ", in the console: " + string(pages) + m.Link)
		}
	}
	return out.String()
}

// links returns a block with a link for each image or video elsewhere that a question shows.
func links(c job.Checkpoint) []slackBlock {
	var all []slackBlock
	for _, m := range c.Media() {
		if m.Host != "" {
			all = append(
				all, slackBlock{"section", slackText{Type: "mrkdwn", Text: "<" + escaped.Replace(m.Link) + "|" + m.Label() + ">"}},
			)
		}
	}
	return all
}

// SlackOmits reports whether the question of an action or a tool call is longer than a
// Slack message can show, or has an image as its preview: a reader in Slack would not have
// seen all of what they approve.
func SlackOmits(c job.Checkpoint, pages job.Pages) bool {
	if c.Type != job.Confirmation && c.Type != job.ToolApproval {
		return false
	}
	if made := job.PreviewIn(c.Props); made != nil && made.Format == job.PreviewImage {
		return true
	}
	_, whole := pieces(escaped.Replace(asText(c, pages)), maxBlocks-1) // the last block describes how to approve it
	return !whole
}

// SlackOutcome returns a message to a Slack channel about something that was allowed and did not
// succeed.
func SlackOutcome(c job.Checkpoint) ([]byte, error) {
	what := "The change"
	if runs := c.Question().Runs; runs != "" {
		what = runs
	}
	return slackMessage(plain(what + " of job " + string(c.RequestID) + " was allowed (" + string(c.ID) + "). " + c.OutcomeWords()))
}

// SlackEnd returns a message to a Slack channel about the end of a job.
func SlackEnd(j job.Job) ([]byte, error) {
	text := "Job " + string(j.ID) + " (" + j.Kind + ") is " + string(j.State) + "."
	if j.Simulated {
		text += " It was simulated: what follows is made up."
	}
	switch {
	case j.Error != "":
		return slackMessage(plain(text + "\nThe reason:" + barred(j.Error)))
	case j.Result != nil:
		pushed, pages := published(j)
		return slackMessage(plain(text+pushed), pages, plain("\nClaude's result:"+barred(job.NewResultMessage(j.Result).Content)))
	}
	return slackMessage(plain(text))
}

// published returns where the server has published a change: the branches, and links to the pull requests.
func published(j job.Job) (pushed string, pages []slackBlock) {
	var change struct {
		Finalized []job.Finalized `json:"finalized"`
	}
	if j.Published { // otherwise the field is Claude's
		_ = job.UnmarshalExact(j.Result, &change)
	}
	for _, f := range change.Finalized {
		if f.Commit != "" {
			pushed = strings.Join([]string{pushed, f.Repository + ": pushed to " + f.Branch}, "\n")
		}
		if f.URL != "" && len(pages) < maxBlocks {
			// What follows a | would be shown in place of the address.
			address := escaped.Replace(strings.ReplaceAll(f.URL, "|", "%7C"))
			pages = append(pages, slackBlock{"section", slackText{Type: "mrkdwn", Text: "\nPR created: <" + address + ">"}})
		}
	}
	return pushed, pages
}

// slackMessage returns a message of blocks. Slack shows no preview of its links, so it fetches none
// of them.
func slackMessage(parts ...[]slackBlock) ([]byte, error) {
	message := struct {
		Text        string       `json:"text"`
		Markdown    bool         `json:"mrkdwn"`
		UnfurlLinks bool         `json:"unfurl_links"`
		UnfurlMedia bool         `json:"unfurl_media"`
		Blocks      []slackBlock `json:"blocks"`
	}{Blocks: slices.Concat(parts...)}
	for _, block := range message.Blocks {
		message.Text += block.Text.Text
	}
	return json.Marshal(message)
}

func plain(text string) (list []slackBlock) {
	texts, _ := pieces(escaped.Replace(text), maxBlocks)
	for _, piece := range texts {
		list = append(list, slackBlock{"section", slackText{Type: "plain_text", Text: piece, Emoji: new(bool)}})
	}
	return list
}

// pieces splits a text into a limited number of blocks, and reports whether the whole text
// fits. The rest of a line that a block cannot hold begins the next one with a mark: it is no separate line.
func pieces(text string, most int) (list []string, whole bool) {
	for text != "" && len(list) < most {
		end, mark := len(text), ""
		if end > maxBlock {
			if end = strings.LastIndexByte(text[:maxBlock], '\n'); end <= 0 {
				end, mark = maxBlock, excerpt.Mark+" "
			}
		}
		list = append(list, excerpt.First(text, end))
		text = mark + text[len(list[len(list)-1]):]
	}
	return list, text == ""
}
