package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/spelling"
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
			return usagef("--follow tells the turns: it goes with neither --verifier nor -o json")
		}
		return a.untilLeft(cmd, nil, func(ctx context.Context) error { return a.followLogs(ctx, cmd, id) })
	})
	c.Flags().StringVar(&verifier, "verifier", "", "only the verifier of this `name`")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show new lines, until the job has ended or Ctrl-C")
	return c
}

func (a *app) logs(cmd *cobra.Command, id job.ID, verifier string) error {
	api := a.client()
	if verifier != "" || a.json() {
		answer, err := api.Logs(cmd.Context(), id)
		if err == nil && verifier != "" {
			err = onlyVerifier(&answer, verifier)
		}
		return show(a, cmd, answer, err, printer.verifiers)
	}
	outputs, err := verifierOutputs(cmd.Context(), api, id)
	if err != nil {
		return err
	}
	p := a.printer(cmd.OutOrStdout())
	if len(outputs) > 0 {
		p.verifiers(outputs)
		p.printf("\n")
	}
	transcript, err := api.Transcript(cmd.Context(), id)
	if err != nil {
		return err
	}
	if told := (&storyteller{p: p}).tell(transcript); told == 0 {
		p.printf("No turn has printed anything yet.\n")
	}
	return nil
}

// verifierOutputs returns the results of the verifiers; none if the job's kind has no verifiers.
func verifierOutputs(ctx context.Context, api *client.Client, id job.ID) ([]job.VerifierOutput, error) {
	answer, err := api.Logs(ctx, id)
	if job.HasKind(err, job.Conflict) {
		return nil, nil
	}
	return answer.Value, err
}

// onlyVerifier removes all but one verifier's results.
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
	api := a.client()
	p := a.printer(cmd.OutOrStdout())
	teller := &storyteller{p: p}
	if _, err := api.Get(ctx, id); err != nil { // do not wait for a server that could not be reached at first
		return err
	}
	err := a.poll(ctx, func() (bool, error) {
		// Read the state before the transcript: the CLI may still print after the job has ended,
		// and that output must be shown too.
		j, err := current(ctx, api, id)
		if err != nil {
			return false, err
		}
		transcript, err := client.UntilAvailable(ctx, func() ([]byte, error) { return api.Transcript(ctx, id) })
		return err == nil && teller.tell(transcript) == 0 && j.Value.State.Terminal(), err
	})
	if err != nil {
		return err
	}
	outputs, err := verifierOutputs(ctx, api, id)
	if len(outputs) > 0 {
		p.printf("\n")
		p.verifiers(outputs)
	}
	return err
}
