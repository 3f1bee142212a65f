package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
)

// contexts are the servers that a person has named.
type contexts struct {
	// Current is the name of the context that commands use by default; empty means none.
	Current string             `json:"current,omitempty"`
	Servers map[string]account `json:"servers"`
}

// account is a server with the user's credentials. The token is sent to no other server.
type account struct {
	Server string `json:"server"`
	Token  string `json:"token,omitempty"`
	User   string `json:"user,omitempty"`
}

const contextsFile = "contexts.json"

// contexts reads the file of contexts. It returns no contexts if the user has no home directory or
// may not read the file. It refuses a file that others can read, because it may contain tokens.
func (a *app) contexts() (contexts, error) {
	c := contexts{Servers: map[string]account{}}
	file, _ := a.stateFile(contextsFile) // save returns the error
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		return c, usagef("Others can read %s, which may hold tokens: chmod 600 %s", file, Quoted(file))
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, usagef("%s is malformed: %w", file, err)
	}
	return c, nil
}

func (a *app) save(c contexts) error {
	file, err := a.stateFile(contextsFile)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(file, append(text, '\n'))
}

func (c contexts) account(name string) (account, error) {
	found, ok := c.Servers[name]
	if !ok {
		return found, usagef("There is no context %s%s", Quoted(name), c.known())
	}
	return found, nil
}

// known lists the names, for an error message.
func (c contexts) known() string {
	if len(c.Servers) == 0 {
		return "; make one with: ringback context set <name> --server <address> --token -"
	}
	return "; there are: " + strings.Join(slices.Sorted(maps.Keys(c.Servers)), ", ")
}

// chooseServer selects the server of a command, and makes its client.
func (a *app) chooseServer(cmd *cobra.Command) error {
	err := a.chooseAccount(cmd)
	a.api = client.New(a.server, client.WithToken(cmp.Or(a.token, a.Token))) // not the flag's default, which --help would show
	return err
}

// chooseAccount selects the server and the user of a command: from --context, else from flags or the
// environment, else from the current context. A context is used as a whole: its token goes to no
// other server, and its server gets no other token.
func (a *app) chooseAccount(cmd *cobra.Command) error {
	flags := cmd.Flags()
	if a.context != "" && flags.Changed("server") {
		return usagef("--context cannot be combined with --server: both name a server")
	}
	if a.context == "" && (flags.Changed("server") || a.ServerURL != "" || a.Token != "") {
		return nil
	}
	all, err := a.contexts()
	if err != nil {
		return err
	}
	name := cmp.Or(a.context, all.Current)
	if name == "" {
		return nil
	}
	chosen, err := all.account(name)
	if err != nil {
		return err
	}
	a.server, a.Token = chosen.Server, chosen.Token
	if !flags.Changed("user") && (a.context != "" || a.User == "") {
		a.user = chosen.User
	}
	return nil
}

func (a *app) contextCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "context", Short: "Name servers, and choose the one that commands call", Args: atMost(0, ""),
		Long: "Name servers with the key or token to sign in with, and choose the one that commands call. Without a subcommand, list them.\n\n" +
			"They are stored in contexts.json in ringback's configuration directory, which only you can read. " +
			"RINGBACK_URL and RINGBACK_TOKEN override the current context, --context and --server override both. " +
			"The token of a context is sent to its server only.",
		Example: `  ringback context set prod --server https://jobs.example.com --token - < key
  ringback context use prod
  ringback list --context local
  ringback context remove prod`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := a.contexts()
			if err != nil {
				return err
			}
			return a.showContexts(cmd, all)
		},
	}
	c.AddCommand(a.setContextCommand(), a.useContextCommand(), a.removeContextCommand())
	return c
}

// contextList is what --output json shows.
type contextList struct {
	Contexts []contextView `json:"contexts"`
}

// contextView is a context in a list, without its token.
type contextView struct {
	Name    string `json:"name"`
	Server  string `json:"server"`
	User    string `json:"user,omitempty"`
	Token   bool   `json:"token"`
	Current bool   `json:"current"`
}

func (a *app) showContexts(cmd *cobra.Command, all contexts) error {
	views := []contextView{}
	for _, name := range slices.Sorted(maps.Keys(all.Servers)) {
		s := all.Servers[name]
		views = append(views, contextView{
			Name: name, Server: s.Server, User: s.User, Token: s.Token != "", Current: name == all.Current,
		})
	}
	return show(a, cmd, answerOf(contextList{views}), nil, printer.contexts)
}

func (p printer) contexts(list contextList) {
	if len(list.Contexts) == 0 {
		p.printf("There are no contexts.\n")
		p.hint("Create one with: ringback context set <name> --server <address> --token -")
		return
	}
	tableOf(p, []string{"", "CONTEXT", "SERVER", "USER", "TOKEN"}, list.Contexts, func(c contextView) []string {
		current, token := "", "none"
		if c.Current {
			current = "*"
		}
		if c.Token {
			token = "kept"
		}
		return []string{current, c.Name, c.Server, c.User, token}
	})
}

func (a *app) setContextCommand() *cobra.Command {
	c := a.changesContexts("set <name>", "Create a context, or change it",
		func(cmd *cobra.Command, all *contexts, name string) (err error) {
			s, known := all.Servers[name]
			if !known && !cmd.Flags().Changed("server") {
				return usagef("Which server? Add --server <address>")
			}
			if cmd.Flags().Changed("server") && a.server != s.Server { // a token is for one server
				s = account{Server: a.server, User: s.User}
			}
			if cmd.Flags().Changed("token") {
				s.Token, err = a.tokenOf(cmd)
			}
			if cmd.Flags().Changed("user") {
				s.User = a.user
			}
			all.Servers[name] = s
			all.Current = cmp.Or(all.Current, name)
			return err
		})
	c.Long = "Store a server under a name, or change its entry: --server, --token (- reads it from standard input, so that it is on no command line) and --user. The first one becomes the current one."
	return c
}

// tokenOf returns the token of the command line. If that is "-", it reads the token from standard
// input.
func (a *app) tokenOf(cmd *cobra.Command) (string, error) {
	if a.token != "-" {
		return a.token, nil
	}
	text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 64<<10))
	return strings.TrimSpace(string(text)), err
}

func (a *app) useContextCommand() *cobra.Command {
	return a.changesContexts("use <name>", "Select the current context",
		func(_ *cobra.Command, all *contexts, name string) error {
			all.Current = name
			_, err := all.account(name)
			return err
		})
}

func (a *app) removeContextCommand() *cobra.Command {
	return a.changesContexts("remove <name>", "Delete a context and its token",
		func(_ *cobra.Command, all *contexts, name string) error {
			_, err := all.account(name)
			delete(all.Servers, name)
			if all.Current == name {
				all.Current = ""
			}
			return err
		})
}

func (a *app) changesContexts(use, short string, change func(*cobra.Command, *contexts, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: one("the name of one context"), ValidArgsFunction: a.completeContexts,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := a.contexts()
			if err != nil {
				return err
			}
			if err := change(cmd, &all, args[0]); err != nil {
				return err
			}
			if err := a.save(all); err != nil {
				return err
			}
			return a.showContexts(cmd, all)
		},
	}
}

func (a *app) completeContexts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := a.contexts()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all.Servers)) {
		names = append(names, described(name, all.Servers[name].Server))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
