package cli

import (
	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) kindsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "kinds [name]", Short: "List the kinds of jobs, or show one with its schemas", Args: atMost(1, "kind"),
		ValidArgsFunction: a.completeKinds(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				k, err := a.client().Kind(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return show(a, cmd, k, printer.kind)
			}
			list, err := a.client().Kinds(cmd.Context())
			if err != nil {
				return err
			}
			return show(a, cmd, list, printer.kinds)
		},
	}
}

func (p printer) kinds(list client.Kinds) {
	var rows [][]string
	for _, k := range list.Kinds {
		rows = append(rows, []string{k.Name, job.ShortVersion(k.Version), k.Events + ":*", k.Description})
	}
	p.table([]string{"KIND", "VERSION", "EVENTS", "WHAT IT DOES"}, rows)
}

func (p printer) kind(k client.Kind) {
	p.printf("%s  %s\nVersion: %s\nEvents: %s:*\n", p.paint(bold, clean(k.Name)), clean(k.Description), clean(k.Version), clean(k.Events))
	p.printf("\n%s\n", p.paint(bold, "Input"))
	p.json(k.InputSchema)
	p.printf("\n%s\n", p.paint(bold, "Result"))
	p.json(k.ResultSchema)
}
