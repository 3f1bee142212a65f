package cli

import (
	"cmp"
	"encoding/json"
	"net/url"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"ringback/client"
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
		page := jobPage(api, id)
		if a.json() {
			text, err := json.Marshal(map[string]string{"url": page})
			if err != nil {
				return err
			}
			return writeJSON(cmd.OutOrStdout(), text)
		}
		p := a.printer(cmd.OutOrStdout())
		p.printf("%s\n", page)
		if p.columns > 0 && !printOnly {
			a.browse(cmd, page)
		}
		return nil
	})
	c.Flags().BoolVar(&printOnly, "print", false, "only print the address")
	return c
}

// jobPage returns the address of a job's page in the console.
func jobPage(api *client.Client, id job.ID) string {
	return api.URL() + "/jobs/" + url.PathEscape(string(id))
}

// browse opens a page in the browser. It ignores errors, because the address has been printed.
func (a *app) browse(cmd *cobra.Command, page string) {
	opener := cmp.Or(a.Browser, map[string]string{"darwin": "open"}[runtime.GOOS], "xdg-open")
	_ = exec.CommandContext(cmd.Context(), opener, page).Run()
}
