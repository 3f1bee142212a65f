package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) auditCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{
		Use: "audit [requestId]", Short: "Show who allowed what, and what ran; as JSON lines with -o json",
		Long: "Show who allowed what, and what ran; as JSON lines with -o json.\n\n" +
			"Each entry contains the digest of the one before (SHA-256 of its line), and the job's record that of the last. " +
			"--verify only checks the log: it finds an entry that was changed, removed, added or moved, a truncated beginning or end, and the log of another job. " +
			"With access to Redis, the whole log could be rewritten. To find that, too, pass a digest that was stored elsewhere with --head, such as data.job.audit.digest of the webhook at a job's end.",
	})
	var verify bool
	var known string
	c.Flags().BoolVar(&verify, "verify", false, "check whether the log is as it was written; exit code 1 if it is not")
	c.Flags().StringVar(&known, "head", "", "with --verify: a `digest` of an earlier end of the log")
	t.run(c, func(cmd *cobra.Command, id job.ID) error {
		if known != "" && !verify {
			return usagef("--head requires --verify")
		}
		log, err := a.api.Audit(cmd.Context(), id)
		switch {
		case err != nil:
			return err
		case verify:
			return a.verifyAudit(cmd, id, log, known)
		case a.json():
			_, err := cmd.OutOrStdout().Write(log.Lines)
			return err
		}
		return a.printer(cmd.OutOrStdout()).audit(log.Lines)
	})
	return c
}

// verifyAudit checks a log against its digests on this machine, not on the server, using the bytes
// that any client receives.
func (a *app) verifyAudit(cmd *cobra.Command, id job.ID, log client.AuditLog, known string) error {
	j, err := a.api.Get(cmd.Context(), id)
	if err != nil {
		return err
	}
	v := job.VerifyAudit(j.Value, log.Entries(), log.Head, strings.ToLower(strings.TrimSpace(known)))
	if len(v.Faults) > 0 {
		return &job.Error{
			Kind: job.Conflict, Message: "The audit log of " + string(id) + " is not as it was written", Details: v.Faults,
			Hint: "Something other than Ringback has written to the store. Compare with a backup; do not rely on this log.",
		}
	}
	return show(a, cmd, answerOf(v), nil, printer.verified)
}

func (p printer) verified(v job.AuditVerification) {
	if v.Entries == 0 {
		p.printf("The audit log is as it was written: nothing is in it.\n")
		return
	}
	p.printf("The audit log is as it was written. Entries: %d. Digest of the last: %s\n", v.Head.Count, v.Head.Digest)
	if v.Unbound {
		p.printf("An older version began this log: the job is bound to it by its requestId only, not by its origin.\n")
	}
}

func (p printer) audit(log []byte) error {
	header := []string{"TIME", "EVENT", "WHAT", "WHO", "HOW"}
	if p.columns == 0 {
		header = append(header, "INPUT")
	}
	var rows [][]string
	var inputs []string
	for line := range bytes.Lines(log) {
		var e job.AuditEntry
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		row := []string{
			p.time(e.Time, time.DateTime), e.Event, e.Action + e.Tool, by(e.By), strings.TrimSpace(e.Outcome + " " + e.Detail),
		}
		input := job.Readable(e.Input)
		if p.columns == 0 {
			row = append(row, input)
		}
		rows, inputs = append(rows, row), append(inputs, input)
	}
	if len(rows) == 0 {
		p.printf("Nothing was asked, allowed or run.\n")
		return nil
	}
	w := widths(append([][]string{header}, rows...))
	p.header(header, w)
	for i, row := range rows {
		p.row(row, w)
		if p.columns > 0 && inputs[i] != "" {
			p.lines("    ", []string{inputs[i]})
		}
	}
	return nil
}

// by returns the actor of a decision and how the decision was made.
func by(actor *job.Actor) string {
	if actor == nil {
		return ""
	}
	return strings.TrimSpace(actor.Who() + " via " + actor.Via + " " + actor.Address)
}
