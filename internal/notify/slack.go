package notify

import (
	"encoding/json"
	"strings"

	"ringback/internal/excerpt"
	"ringback/internal/job"
)

// Slack's bounds: characters of a block's text, and blocks of a message.
const (
	maxBlock  = 2900
	maxBlocks = 10
)

type slackText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

// escaped is text as Slack takes it.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// SlackQuestion is a message to a Slack channel that tells what a job asks.
func SlackQuestion(c job.Checkpoint) ([]byte, error) {
	text := c.Message
	if c.Type != job.Review {
		text += "\n\nJob " + string(c.RequestID) + " waits for the answer."
	}
	if c.Type.Binding() {
		text += "\n\nIn Slack, allow exactly this with: /ringback approve " + string(c.ID)
	}
	return slackMessage(text)
}

// SlackEnd is a message to a Slack channel that tells how a job has ended.
func SlackEnd(j job.Job) ([]byte, error) {
	text := "Job " + string(j.ID) + " (" + j.Kind + ") is " + string(j.State) + "."
	if j.Simulated {
		text += " It was simulated: what follows is made up."
	}
	switch {
	case j.Error != "":
		text += "\n" + j.Error
	case j.Result != nil:
		text += "\n" + job.NewResultMessage(j.Result).Content + finalized(j.Result)
	}
	return slackMessage(text)
}

// finalized tells where a change was brought.
func finalized(result json.RawMessage) string {
	var change struct {
		Finalized []job.Finalized `json:"finalized"`
	}
	_ = json.Unmarshal(result, &change) // a result without it has nothing to tell
	var out strings.Builder
	for _, f := range change.Finalized {
		switch {
		case f.URL != "":
			out.WriteString("\nPR created: " + f.URL)
		case f.Commit != "":
			out.WriteString("\n" + f.Repository + ": pushed to " + f.Branch)
		}
	}
	return out.String()
}

func slackMessage(text string) ([]byte, error) {
	safe := escaped.Replace(text)
	message := struct {
		Text   string       `json:"text"`
		Blocks []slackBlock `json:"blocks"`
	}{Text: safe}
	for rest := safe; rest != "" && len(message.Blocks) < maxBlocks; {
		piece := rest
		rest = ""
		if len(piece) > maxBlock {
			at := strings.LastIndexByte(piece[:maxBlock], '\n')
			if at <= 0 {
				at = maxBlock
			}
			whole := piece
			piece = excerpt.First(whole, at)
			rest = whole[len(piece):]
		}
		message.Blocks = append(message.Blocks, slackBlock{"section", slackText{"mrkdwn", piece}})
	}
	return json.Marshal(message)
}
