package cli

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/internal/job"
	"ringback/internal/rules/schema"
)

// Limits of completions, because a person is waiting at the Tab key.
const (
	completeWithin = 2 * time.Second
	maxCompletions = 50
)

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completes makes a completion from data on the server. If the server cannot be reached, it offers
// nothing and prints no error, because the person is typing.
func (a *app) completes(words func(ctx context.Context, begun string) ([]string, error)) completion {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		if a.chooseServer(cmd) == nil {
			if found, err := words(ctx, begun); err == nil {
				return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
			}
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func described(word, about string) string { return word + "\t" + clean(oneLine(about)) }

// offers completes ids by their short form, or by the whole id if that matches the typed text.
func (a *app) offers(list func(context.Context) ([]found, error)) completion {
	return a.completes(func(ctx context.Context, begun string) (words []string, err error) {
		all, err := list(ctx)
		for _, f := range all {
			if strings.HasPrefix(f.short, begun) {
				words = append(words, described(f.short, f.about))
			} else if strings.HasPrefix(f.id, begun) {
				words = append(words, described(f.id, f.about))
			}
		}
		return words, err
	})
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

// completeFields offers the input fields of the kind on the command line. Once a field's name is
// complete, it offers the field's possible values.
func (a *app) completeFields(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words, directive := a.completes(func(ctx context.Context, begun string) ([]string, error) {
		k, err := a.api.Kind(ctx, args[0])
		if err != nil {
			return nil, err
		}
		var words []string
		for _, f := range schemaFields(k.Value.InputSchema) {
			words = append(words, fieldWords(f, begun)...)
		}
		return words, nil
	})(cmd, nil, begun)
	return words, directive | cobra.ShellCompDirectiveNoSpace
}

// fieldWords returns the completions of --field for one field: its name or, if the name is already
// typed, the name with each value.
func fieldWords(f schema.Field, begun string) []string {
	if written, _, ok := strings.Cut(begun, "="); !ok {
		return []string{described(f.Name+"=", cmp.Or(f.Title, f.Description, f.Type))}
	} else if written != f.Name {
		return nil
	}
	var words []string
	for _, value := range f.Enum {
		words = append(words, f.Name+"="+clean(job.ValueText(value)))
	}
	return words
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
