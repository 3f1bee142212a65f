package cli

import (
	"cmp"
	"net/url"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"ringback/internal/job"
)

func (a *app) openCommand() *cobra.Command {
	var printOnly bool
	c, t := a.targeted(&cobra.Command{
		Use: "open [requestId]", Short: "Open a job's page in the browser, and print its address",
		Long: `Open a job's page in the browser, and print its address. If standard output is no
terminal, or no browser is found, only print the address.`,
	})
	t.run(c, func(cmd *cobra.Command, id job.ID) error {
		api := a.client()
		if _, err := api.Get(cmd.Context(), id); err != nil {
			return err
		}
		page := api.URL() + "/jobs/" + url.PathEscape(string(id))
		if a.json() {
			return show(a, cmd, answerOf(map[string]string{"url": page}), nil, nil)
		}
		p := a.printer(cmd.OutOrStdout())
		p.printf("%s\n", page)
		if p.columns > 0 && !printOnly {
			opener := cmp.Or(a.Browser, map[string]string{"darwin": "open"}[runtime.GOOS], "xdg-open")
			_ = exec.CommandContext(cmd.Context(), opener, page).Run() // the address has been printed
		}
		return nil
	})
	c.Flags().BoolVar(&printOnly, "print", false, "only print the address")
	return c
}
