package cli

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/rules/schema"
)

func (a *app) kindsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "kinds [name]", Short: "List the kinds of jobs, or show one with its schemas", Args: atMost(1, "kind"),
		Long: "List the kinds of jobs, or show one with its schemas. ringback kinds reload has the server load their files again, " +
			"all or none, and shows which kinds were added, removed and changed.",
		Example: `  ringback kinds meal-suggestions
  ringback kinds reload`,
		ValidArgsFunction: a.completeKinds(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				k, err := a.api.Kind(cmd.Context(), args[0])
				return show(a, cmd, k, err, printer.kind)
			}
			list, err := a.api.Kinds(cmd.Context())
			return show(a, cmd, list, err, printer.kinds)
		},
	}
	c.AddCommand(a.reloadCommand())
	return c
}

func (a *app) reloadCommand() *cobra.Command {
	return &cobra.Command{
		Use: "reload", Short: "Have the server load the files of its kinds again", Args: atMost(0, ""),
		Long: "Have the server load the files of its kinds again: all of them, or none if one has a problem, which is shown by file and line. " +
			"Jobs keep the version of their kind: see ringback move. Each server loads its own files, so each is asked on its own (--server).",
		RunE: func(cmd *cobra.Command, _ []string) error {
			reload, err := a.api.ReloadKinds(cmd.Context())
			return show(a, cmd, reload, err, printer.kindsReload)
		},
	}
}

func (p printer) kindsReload(r client.KindsReload) {
	if len(r.Added)+len(r.Removed)+len(r.Changed) == 0 {
		p.printf("No kind has changed.\n")
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"added", r.Added}, {"removed", r.Removed}, {"changed", r.Changed}, {"warning", r.Warnings}} {
		for _, name := range list.names {
			p.printf("%-7s  %s\n", list.what, clean(name))
		}
	}
}

func (p printer) kinds(list client.Kinds) {
	tableOf(p, []string{"KIND", "VERSION", "EVENTS", "WHAT IT DOES"}, list.Kinds, func(k client.Kind) []string {
		return []string{k.Name, job.ShortVersion(k.Version), k.Events + ":*", k.Description}
	})
}

func (p printer) kind(k client.Kind) {
	p.printf(
		"%s  %s\nVersion: %s\nEvents: %s:*\n", p.paint(bold, clean(k.Name)), clean(k.Description), clean(k.Version),
		clean(k.Events),
	)
	p.printf("\n%s\n", p.paint(bold, "Input"))
	p.json(k.InputSchema)
	p.printf("\n%s\n", p.paint(bold, "Result"))
	p.json(k.ResultSchema)
}

func (a *app) callbackCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{
		Use:   "callback [requestId]",
		Short: "Show what to send when you play Claude (a job run with --simulate manual)",
		Example: `  ringback callback                  # the values, and curl commands to paste
  eval "$(ringback callback --env)"  # the values as variables of your shell`,
	})
	var env bool
	c.Flags().BoolVar(&env, "env", false, "only the values, for a shell's eval")
	t.run(c, func(cmd *cobra.Command, id job.ID) error {
		if _, err := a.api.Wait(cmd.Context(), id, job.Running, job.AwaitingApproval, job.AwaitingInput); err != nil {
			return err // a turn that has not begun has no values yet
		}
		values, err := a.api.Callback(cmd.Context(), id)
		return show(a, cmd, values, err, func(p printer, c client.Callback) {
			p.callbackValues(c)
			if env {
				return
			}
			var k client.Answer[client.Kind] // without fields if a request fails
			if j, err := a.api.Get(cmd.Context(), id); err == nil {
				k, _ = a.api.Kind(cmd.Context(), j.Value.Kind)
			}
			p.callbackCommands(c, k.Value)
		})
	})
	return c
}

// example returns a small valid object for a schema, or nil if it cannot create one.
func example(source json.RawMessage) map[string]any {
	s, err := schema.New("", source)
	if err != nil {
		return nil
	}
	made, _ := s.Example("example")
	return made
}

// callbackValues prints the values that every callback carries, as shell assignments.
func (p printer) callbackValues(c client.Callback) {
	p.printf(
		"REQUEST_ID=%s\nCALLBACK_BASE_URL=%s\nHMAC_SIGNATURE=%s\n", Quoted(clean(string(c.RequestID))),
		Quoted(clean(c.BaseURL)), Quoted(clean(c.HMAC)),
	)
	if c.Directory != "" {
		p.printf("WORKING_DIRECTORY=%s\n", Quoted(clean(c.Directory)))
	}
}

// callbackCommands prints a curl command for each thing that Claude can do.
func (p printer) callbackCommands(c client.Callback, k client.Kind) {
	show := func(what, endpoint string, payload map[string]any) {
		p.printf("\n%s\n%s\n", p.paint(faint, "# "+what), curl(c, endpoint, payload))
	}
	show("report what you are doing", "progress", map[string]any{"message": "Looking around", "progress": 30, "type": job.Querying})
	for _, a := range k.Actions {
		show("have the server do something: "+clean(a.Title), "actions/"+clean(a.Name), map[string]any{"input": example(a.InputSchema)})
	}
	show("ask to call a tool of the CLI: the kind's rules allow it, ask the user or deny it", "tool-calls", map[string]any{
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": "make deploy"},
		"tool_use_id": "toolu_1",
	})
	show("ask the user", "checkpoints", map[string]any{
		"type": job.ErrorRecovery, "message": "Which size?",
		"props": map[string]any{"error_field": "size", "valid_values": []string{"small", "large"}},
	})
	if result := example(k.ResultSchema); result != nil {
		show("submit the smallest result that the kind's schema allows", "result", result)
	}
	show("or report that it cannot be done", "failure", map[string]any{"error": "It cannot be done.", "retryable": false})
}

func curl(c client.Callback, endpoint string, payload map[string]any) string {
	payload["requestId"], payload["hmac"] = c.RequestID, c.HMAC
	return "curl -sS -X POST " + Quoted(clean(c.BaseURL)+"/api/claude/"+endpoint) +
		" -H 'Content-Type: application/json' -d " + Quoted(clean(string(job.MustJSON(payload))))
}

// Quoted returns text as one word of a POSIX shell.
func Quoted(text string) string {
	harmless := func(r rune) bool {
		return r < 0x80 &&
			(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,+@%", r))
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !harmless(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
