package cli

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/internal/client"
	"ringback/internal/job"
)

func (a *app) inboxCommand() *cobra.Command {
	f := client.CheckpointFilter{Status: job.Open}
	var kind string
	var all bool
	c := &cobra.Command{
		Use: "inbox", Short: "List the questions that wait for an answer", Args: atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.UserID, f.Type = a.user, job.CheckpointType(kind)
			if all {
				f.Status = ""
			}
			page, err := a.client().Checkpoints(cmd.Context(), f)
			if err != nil {
				return err
			}
			return show(a, cmd, page, printer.inbox)
		},
	}
	c.Flags().StringVar(&kind, "type", "", "only questions of this type")
	c.Flags().BoolVar(&all, "all", false, "answered ones too")
	c.Flags().IntVar(&f.Limit, "limit", 20, "how many")
	return c
}

func (p printer) inbox(page client.Checkpoints) {
	if len(page.Checkpoints) == 0 {
		p.printf("Nothing waits for an answer.\n")
		return
	}
	var rows [][]string
	for _, c := range page.Checkpoints {
		rows = append(rows, []string{string(c.ID), string(c.Type), string(c.Status), p.time(c.CreatedAt, time.DateTime), oneLine(c.Message)})
	}
	p.table([]string{"CHECKPOINT", "TYPE", "STATUS", "ASKED", "QUESTION"}, rows)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// question prints what a checkpoint asks and how it may be answered.
func (p printer) question(c job.Checkpoint) {
	p.printf("%s\n", p.paint(bold, clean(c.Message)))
	var props job.Props
	if json.Unmarshal(c.Props, &props) == nil && len(props.SuggestedReplies) > 0 {
		p.printf("%s\n", p.paint(faint, "Replies: "+clean(strings.Join(props.SuggestedReplies, " | "))))
	}
	p.printf("%s\n", p.paint(faint, "Answer with: ringback reply "+quoted(clean(string(c.ID)))+" <text>"))
}
