package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/people/notify"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/workspace"
)

const (
	// leastFiles is the number of files (inodes) below which people should know: a clone of a large repository
	// takes as many.
	leastFiles = 50_000
	// turnOutput is the disk space that the output of a turn may take.
	turnOutput = 64 << 20
)

// checkDisk reports what is free on the disk of the data directory.
func checkDisk(_ context.Context, s *setup) []Finding {
	if err := cmp.Or(checkDataDir(s.DataDir), checkRoom(s.DataDir, 1)); err != nil {
		return []Finding{problem("%v", err)}
	}
	space, err := freeSpace(s.DataDir)
	planned := reserveOf(space.Total) + uint64(s.Workers)*turnOutput //nolint:gosec // it is positive
	switch {
	case err != nil:
		return []Finding{problem("DATA_DIR: %s: %v", s.DataDir, err)}
	case space.Free < planned:
		return []Finding{note("DATA_DIR: %d MiB are free on the disk of %s, and the output of WORKERS=%d turns may take %d MiB. %s",
			space.Free>>20, s.DataDir, s.Workers, planned>>20, freeSome)}
	case space.Files > 0 && space.FreeFiles < leastFiles:
		return []Finding{note("DATA_DIR: the disk of %s can hold only %d more files (df -i), fewer than a large repository has. %s",
			s.DataDir, space.FreeFiles, freeSome)}
	}
	return []Finding{fine("DATA_DIR %s: %d MiB are free", s.DataDir, space.Free>>20)}
}

// checkRepositories asks for each repository of the kinds, with the logins of this user.
func checkRepositories(ctx context.Context, s *setup) []Finding {
	of := map[string]job.Repository{}
	for _, k := range s.kinds.All() {
		if k.Policy.Workspace == nil {
			continue
		}
		repositories, _ := workspace.Named(k.Policy.Workspace.Repositories) // checkKinds reports errors
		for _, r := range repositories {
			of[r.URL] = r
		}
	}
	root := workspace.Root{Dir: s.DataDir, Environ: s.Environ, Sandbox: s.confined.Sandbox}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("it did not answer within "+patience.String()))
	defer cancel()
	found := make([]Finding, len(of))
	var all sync.WaitGroup
	for i, address := range slices.Sorted(maps.Keys(of)) {
		all.Go(func() {
			r := of[address]
			found[i] = fine("git reaches the repository %s", r.Name)
			if err := root.Reach(ctx, r); err != nil {
				found[i] = problem("git does not reach the repository %s: %v. "+
					"Give the user that runs the server a login (an SSH key, a credential helper), or correct the kind's url", r.Name, err)
			}
		})
	}
	all.Wait()
	return found
}

// checkNotifications sends a test message to each receiver of notifications, if that is asked for.
func checkNotifications(ctx context.Context, s *setup) (found []Finding) {
	to := notified(s.Config)
	if to == (notify.Addresses{}) {
		return nil
	}
	if !s.Notify {
		return []Finding{note("receivers of notifications were not tried: ringback check --notify sends each a test message")}
	}
	sender, err := notify.NewWebhook(s.WebhookSecret, false)
	if err != nil {
		return []Finding{problem("WEBHOOK_SECRET: %v", err)}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, r := range []struct {
		variable, address, cure string
		kind                    lifecycle.TaskKind
	}{
		{"WEBHOOK_URL", to.Webhook, "Correct the address, or set WEBHOOK_SECRET to what the receiver verifies signatures with", lifecycle.TaskWebhook},
		{"SLACK_WEBHOOK_URL", to.Slack, "Copy the address again from the settings of the Slack app (Incoming Webhooks)", lifecycle.TaskSlack},
	} {
		if r.address == "" {
			continue
		}
		body, err := notify.Test(r.kind, time.Now())
		if err == nil {
			err = sender.Notify(ctx, r.address, "test_"+rand.Text(), body)
		}
		if err != nil {
			found = append(found, problem("%s: the test message was not accepted: %v. %s", r.variable, err, r.cure))
			continue
		}
		found = append(found, fine("%s: %s has accepted a test message", r.variable, hostOfURL(r.address)))
	}
	return found
}

// hostOfURL returns the host of an address; its path may be a secret.
func hostOfURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the receiver"
	}
	return u.Host
}
