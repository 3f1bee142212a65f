package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/job/transcript"
	"ringback/internal/text/spelling"
)

func (a *app) logsCommand() *cobra.Command {
	var verifier string
	var follow bool
	c, t := a.targeted(&cobra.Command{
		Use: "logs [requestId]", Short: "Show how the verifiers ended, and what happened in a job's turns",
		Long: `Show how the verifiers of a change ended, and what happened in the job's turns:
Claude's messages, its tools and their results, the CLI's standard error, and how each
turn ended.

With -o json: the verifiers alone. ringback transcript has the turns for programs.`,
	})
	t.run(c, func(cmd *cobra.Command, id job.ID) error {
		switch {
		case !follow:
			return a.logs(cmd, id, verifier)
		case a.json() || verifier != "":
			return usagef("--follow shows the turns: it cannot be combined with --verifier or -o json")
		}
		return a.untilLeft(cmd, nil, func(ctx context.Context) error { return a.followLogs(ctx, cmd, id) })
	})
	c.Flags().StringVar(&verifier, "verifier", "", "only the verifier of this `name`")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show new lines, until the job has ended or Ctrl-C")
	return c
}

func (a *app) logs(cmd *cobra.Command, id job.ID, verifier string) error {
	if verifier != "" || a.json() {
		answer, err := a.api.Logs(cmd.Context(), id)
		if err == nil && verifier != "" {
			err = onlyVerifier(&answer, verifier)
		}
		return show(a, cmd, answer, err, printer.verifiers)
	}
	outputs, err := a.verifierOutputs(cmd.Context(), id)
	if err != nil {
		return err
	}
	p := a.printer(cmd.OutOrStdout())
	if len(outputs) > 0 {
		p.verifiers(outputs)
		p.printf("\n")
	}
	transcript, err := a.api.Transcript(cmd.Context(), id)
	if err != nil {
		return err
	}
	if fresh := (&story{p: p}).show(transcript); fresh == 0 {
		p.printf("No turn has printed anything yet.\n")
	}
	return nil
}

// verifierOutputs returns the results of the verifiers; none if the job's kind has no verifiers.
func (a *app) verifierOutputs(ctx context.Context, id job.ID) ([]job.VerifierOutput, error) {
	answer, err := a.api.Logs(ctx, id)
	if job.HasKind(err, job.Conflict) {
		return nil, nil
	}
	return answer.Value, err
}

func onlyVerifier(answer *client.Answer[[]job.VerifierOutput], name string) error {
	if len(answer.Value) == 0 {
		return nil
	}
	var kept []job.VerifierOutput
	var names []string
	for _, v := range answer.Value {
		_, short, _ := strings.Cut(v.Verifier, ":")
		if v.Verifier == name || short == name {
			kept = append(kept, v)
		}
		names = append(names, v.Verifier)
	}
	if len(kept) == 0 {
		return usagef("No verifier is called %s; there are: %s", Quoted(name), spelling.List(slices.Compact(names)))
	}
	*answer = answerOf(kept)
	return nil
}

// followLogs shows what happens in a job's turns until it ends, and then the results of the
// verifiers.
func (a *app) followLogs(ctx context.Context, cmd *cobra.Command, id job.ID) error {
	p := a.printer(cmd.OutOrStdout())
	turns := &story{p: p}
	if _, err := a.api.Get(ctx, id); err != nil { // do not wait for a server that could not be reached at first
		return err
	}
	err := a.poll(ctx, func() (bool, error) {
		// Read the state before the transcript: the CLI may still print after the job has ended,
		// and that output must be shown too.
		j, err := a.current(ctx, id)
		if err != nil {
			return false, err
		}
		transcript, err := client.UntilAvailable(ctx, func() ([]byte, error) { return a.api.Transcript(ctx, id) })
		return err == nil && turns.show(transcript) == 0 && j.Value.State.Terminal(), err
	})
	if err != nil {
		return err
	}
	outputs, err := a.verifierOutputs(ctx, id)
	if len(outputs) > 0 {
		p.printf("\n")
		p.verifiers(outputs)
	}
	return err
}

func (a *app) transcriptCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{
		Use: "transcript [requestId]", Short: "Show what the Claude CLI printed for a job, as JSON lines",
	})
	t.run(c, func(cmd *cobra.Command, id job.ID) error {
		text, err := a.api.Transcript(cmd.Context(), id)
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

// story shows what happened in a job's turns, from the CLI's output.
type story struct {
	p     printer
	turns int
	// shown counts the lines shown, of standard error and of the rest. A turn's standard error comes
	// after the rest of its output, and both can grow.
	shown map[bool]int
}

// show shows the new lines and returns their number. It leaves an incomplete last line for the next
// call.
func (s *story) show(printed []byte) int {
	if s.shown == nil {
		s.shown = map[bool]int{}
	}
	seen, fresh := map[bool]int{}, 0
	for line := range bytes.Lines(printed[:bytes.LastIndexByte(printed, '\n')+1]) {
		l := transcript.ParseLine(line)
		if l.Type == "" { // the CLI prints only JSON, unless something is wrong
			l.Type, l.Text = "stderr", string(line)
		}
		isError := l.Type == "stderr" && json.Valid(line)
		if seen[isError]++; seen[isError] <= s.shown[isError] {
			continue
		}
		s.shown[isError], fresh = seen[isError], fresh+1
		s.line(l)
	}
	return fresh
}

func (s *story) line(l transcript.Line) {
	switch l.Type {
	case "system":
		if l.Subtype == "init" {
			s.turns++
			s.p.printf("%s\n", s.p.paint(bold, clean(strings.TrimSpace(fmt.Sprintf("Turn %d  %s", s.turns, l.Model)))))
		}
	case "assistant", "user":
		if l.Message != nil {
			s.blocks(l)
		}
	case "ringback":
		s.p.aloud("Ringback", faint, l.Text)
	case "stderr":
		s.p.aloud("stderr", red, l.Text)
	case "result":
		if l.Result != nil {
			s.ended(*l.Result)
		}
	}
}

func (s *story) blocks(l transcript.Line) {
	for _, b := range l.Message.Blocks {
		switch b.Type {
		case "text":
			if l.Type == "user" { // the prompt
				continue
			}
			s.p.aloud("Claude", bold, b.Text)
		case "tool_use":
			s.p.hang("  ", "    ", "", oneLine("→ "+b.Name+" "+shortened(plainValue(b.Input))))
		case "tool_result":
			color := ""
			if b.IsError {
				color = red
			}
			s.p.hang("  ", "    ", color, "← "+shortened(outputOf(b.Output)))
		}
	}
}

// outputOf returns a tool's output: a text, or several joined.
func outputOf(content json.RawMessage) string {
	var pieces []transcript.Block
	if json.Unmarshal(content, &pieces) != nil {
		return plainValue(content)
	}
	var texts []string
	for _, piece := range pieces {
		texts = append(texts, piece.Text)
	}
	return strings.Join(texts, " ")
}

func (s *story) ended(r transcript.Result) {
	outcome, color := "ended", faint
	if r.IsError {
		outcome, color = "failed: "+oneLine(r.Text), red
	}
	took := (time.Duration(r.DurationMS) * time.Millisecond).Round(100 * time.Millisecond)
	line := fmt.Sprintf("Turn %d %s after %s", max(1, s.turns), outcome, took)
	if r.CostUSD > 0 { // the CLI counts the whole conversation
		line += fmt.Sprintf(", $%.4f so far", r.CostUSD)
	}
	s.p.hang("  ", "    ", color, clean(line))
}

// aloud prints a speaker and a text, with further lines indented below the first.
func (p printer) aloud(who, color, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	p.hang("  "+p.paint(color, who)+"  ", strings.Repeat(" ", len(who)+4), "", text)
}
