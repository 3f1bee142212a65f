package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// Completions are for a person who waits with a finger on the Tab key.
const (
	completeWithin = 2 * time.Second
	maxCompletions = 50
)

// completion is what cobra asks for words to go on with.
type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completes makes a completion out of what the server knows. A server that
// cannot be asked has no words to offer, and nothing is said: the person is typing.
func (a *app) completes(words func(context.Context, *client.Client, string) ([]string, error)) completion {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, cancel := context.WithTimeout(ctx, completeWithin)
		defer cancel()
		if err := a.chooseServer(cmd); err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, err := words(ctx, a.client(), begun)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// described is a word to go on with, and what it stands for.
func described(word, about string) string { return word + "\t" + clean(oneLine(about)) }

// complete offers jobs that fit, newest first: the short form of their ids,
// or the whole one where that was begun.
func (t *target) complete() completion {
	return t.app.completes(func(ctx context.Context, api *client.Client, begun string) ([]string, error) {
		page, err := api.List(ctx, client.Filter{UserID: t.app.user, Limit: maxCompletions})
		if err != nil {
			return nil, err
		}
		var words []string
		for _, j := range page.Value.Jobs {
			if t.fits != nil && !t.fits(j) {
				continue
			}
			for _, id := range []string{j.ID.Short(), string(j.ID)} {
				if strings.HasPrefix(id, begun) {
					words = append(words, described(id, t.app.about(j)))
					break
				}
			}
		}
		return words, nil
	})
}

// completeKinds offers the kinds of jobs.
func (a *app) completeKinds() completion {
	return a.completes(func(ctx context.Context, api *client.Client, _ string) ([]string, error) {
		list, err := api.Kinds(ctx)
		if err != nil {
			return nil, err
		}
		var words []string
		for _, k := range list.Value.Kinds {
			words = append(words, described(k.Name, k.Description))
		}
		return words, nil
	})
}

// completeFields offers the fields of the input of the kind that the command line names, and of
// one whose name is complete the values that it may have.
func (a *app) completeFields(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words, directive := a.completes(func(ctx context.Context, api *client.Client, begun string) ([]string, error) {
		k, err := api.Kind(ctx, args[0])
		if err != nil {
			return nil, err
		}
		var input struct {
			Properties json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(k.Value.InputSchema, &input); err != nil {
			return nil, err
		}
		var words []string
		for name, property := range members(input.Properties) {
			words = append(words, fieldWords(name, property, begun)...)
		}
		return words, nil
	})(cmd, nil, begun)
	return words, directive | cobra.ShellCompDirectiveNoSpace
}

// fieldWords are what --field can go on with that concerns one field: its name, or, if the name is
// there already, the name with each value.
func fieldWords(name string, property json.RawMessage, begun string) []string {
	var f field
	_ = json.Unmarshal(property, &f) // what cannot be read is not described
	if written, _, ok := strings.Cut(begun, "="); !ok {
		return []string{described(name+"=", cmp.Or(f.Title, f.Description, f.Type))}
	} else if written != name {
		return nil
	}
	var words []string
	for _, value := range f.Enum {
		text := string(value)
		if unquoted := ""; json.Unmarshal(value, &unquoted) == nil {
			text = unquoted
		}
		words = append(words, name+"="+clean(text))
	}
	return words
}

// completeCheckpoints offers the questions that wait.
func (a *app) completeCheckpoints() completion {
	return a.completes(func(ctx context.Context, api *client.Client, begun string) ([]string, error) {
		page, err := api.Checkpoints(ctx, client.CheckpointFilter{UserID: a.user, Status: job.Open, Limit: maxCompletions})
		if err != nil {
			return nil, err
		}
		var words []string
		for _, c := range page.Value.Checkpoints {
			id := c.ID.Short()
			if !strings.HasPrefix(id, begun) {
				id = string(c.ID)
			}
			words = append(words, described(id, a.standingOf(c)))
		}
		return words, nil
	})
}

func (a *app) standingOf(c job.Checkpoint) string {
	return span(a.NowFunc().Sub(c.CreatedAt)) + ": " + shortened(c.Message)
}

// completeApprovals offers what may be revoked.
func (a *app) completeApprovals() completion {
	return a.completes(func(ctx context.Context, api *client.Client, _ string) ([]string, error) {
		list, err := api.Approvals(ctx, a.user)
		if err != nil {
			return nil, err
		}
		var words []string
		for _, s := range list.Value.Approvals {
			words = append(words, described(job.ShortApproval(s.ID), s.Kind+": "+s.Rule))
		}
		return words, nil
	})
}

// completeFlag offers the values of a flag.
func completeFlag[T ~string](c *cobra.Command, flag string, values []T) {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(texts, cobra.ShellCompDirectiveNoFileComp)) // fails for an unknown flag only
}

// completeFlagWith is completeFlag for values that the server knows. What stands
// on the command line already does not matter to a flag.
func completeFlagWith(c *cobra.Command, flag string, words completion) {
	_ = c.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return words(cmd, nil, begun)
	})
}
