package cli

import (
	"bytes"

	"ringback/internal/job"

	"github.com/spf13/cobra"
)

func (a *app) transcriptCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{
		Use: "transcript [requestId]", Short: "Show what the Claude CLI printed for a job, as JSON lines",
	})
	t.run(c, func(cmd *cobra.Command, id job.ID) error {
		text, err := a.client().Transcript(cmd.Context(), id)
		if err != nil {
			return err
		}
		out := a.printer(cmd.OutOrStdout())
		switch {
		case a.json() || out.columns == 0: // for programs
			_, err = jsonWriter{out.Writer}.Write(text)
			return err
		case len(bytes.TrimSpace(text)) == 0:
			out.printf("No turn has printed anything yet.\n")
		default:
			out.printf("%s\n", cleanLines(string(bytes.TrimRight(text, "\n"))))
		}
		return nil
	})
	return c
}
