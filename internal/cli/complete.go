package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Limits of completions, because a person is waiting at the Tab key.
const (
	completeWithin = 2 * time.Second
	maxCompletions = 50
)

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

func described(word, about string) string { return word + "\t" + clean(oneLine(about)) }

// offers completes ids on the server by their short form, or by the whole id if that matches the typed text. If
// the server cannot be reached, it offers nothing and prints no error, because the person is typing.
func (a *app) offers(list func(context.Context) ([]found, error)) completion {
	return func(cmd *cobra.Command, args []string, begun string) (words []string, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		if len(args) > 0 || a.chooseServer(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, err := list(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, f := range all {
			if strings.HasPrefix(f.short, begun) {
				words = append(words, described(f.short, f.about))
			} else if strings.HasPrefix(f.id, begun) {
				words = append(words, described(f.id, f.about))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

func (a *app) completeKinds() completion {
	return a.offers(func(ctx context.Context) (all []found, err error) {
		list, err := a.api.Kinds(ctx)
		for _, k := range list.Value.Kinds {
			all = append(all, found{k.Name, k.Name, k.Description})
		}
		return all, err
	})
}

func takesOnly[T ~string](c *cobra.Command, flag string, values []T) {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	// both fail for an unknown flag only
	_ = c.Flags().SetAnnotation(flag, onlyValues, texts)
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(texts, cobra.ShellCompDirectiveNoFileComp))
}

// completeFlagWith offers values from the server for a flag. It ignores the arguments on the command
// line.
func completeFlagWith(c *cobra.Command, flag string, words completion) {
	_ = c.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return words(cmd, nil, begun)
	})
}
