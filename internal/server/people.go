package server

import (
	"context"
	"fmt"
	"os"

	"ringback/internal/job"
	"ringback/internal/outbound"
	"ringback/internal/people/checkpoint"
	"ringback/internal/people/notify"

	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/door"
	"ringback/internal/sandbox/process"
	"ringback/internal/server/config"
	"ringback/internal/turn/action"
	"ringback/internal/web/guard"
	"ringback/internal/web/hub"
)

// startPeople creates what creates and changes jobs, and asks and notifies people. None of it runs yet.
func (n *node) startPeople(context.Context) (stop func(), err error) {
	c := n.opts.Config
	n.connections = guard.NewConnections(budget(c))
	n.hub = hub.New(
		n.store, hub.Options{Limits: webSocketLimits(c), Refused: func(limit string) { n.metrics.WebSocketRefused(limit) }},
		n.log,
	)
	n.metrics = n.newMetrics()
	n.jobs = lifecycle.New(n.store, n.kinds, lifecycle.Options{
		CallbackTimeout: c.CallbackTimeout, Retention: c.Retention, QueueTimeout: c.HumanTimeout, HumanTimeout: c.HumanTimeout,
		UserLimit: c.UserLimit, UserQuota: job.Quota{AtOnce: c.JobsPerUserAtOnce, PerDay: c.JobsPerUserPerDay},
		Budgets: budgetsOf(c), StateChangedFunc: n.stateChanged, ConcludedFunc: n.concluded,
		Notify: notified(c).Ways(), ComposeFunc: notify.Compose(job.Pages(c.PublicURL)),
		Structured: !c.UseCallback, Repositories: n.repositories(),
		KindsDir: c.PromptsDir, NodeTimeout: c.NodeTimeout,
	})
	n.checkpoints = checkpoint.New(n.store, n.jobs, checkpoint.Options{
		Hold: c.Hold, Confidence: c.NLConfidence, ApprovalTimeout: c.ApprovalTimeout, Pages: job.Pages(c.PublicURL),
	}, n.log)
	trusted, err := notify.NewWebhook(c.WebhookSecret, false)
	if err != nil {
		return nil, fmt.Errorf("WEBHOOK_SECRET: %w", err)
	}
	guarded, err := notify.NewWebhook(c.WebhookSecret, !c.WebhookPrivate)
	if err != nil {
		return nil, err
	}
	n.outbox = notify.NewOutbox(n.store.Tasks, notify.Handlers{
		StartInterpretingFunc: n.checkpoints.StartInterpreting, FinishInterpretingFunc: n.checkpoints.FinishInterpreting,
		FollowFunc: n.jobs.Follow,
	}, notify.Notifier{Addresses: notified(c), TrustedFunc: trusted.Notify, GuardedFunc: guarded.Notify}, n.log)
	n.claude = c.FindClaude()
	n.misspelt, _ = misspeltSettings(c, n.kinds)
	return nil, n.newActions(trusted)
}

// notified returns the addresses for notifications about jobs.
func notified(c config.Config) notify.Addresses {
	return notify.Addresses{Webhook: c.WebhookURL, Slack: c.SlackURL}
}

func (n *node) newActions(trusted *notify.Webhook) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if left := process.EndOrphans(); left > 0 {
		n.log.Warn("killed leftover processes of a server that died", "processes", left)
	}
	n.actions = action.New(
		n.store, n.jobs,
		action.Options{
			Environ: n.opts.Config.Environ, Sandbox: n.sandbox.Sandbox, Doors: n.jobDoors(), DataDir: n.opts.Config.DataDir,
			Dir: n.workDir, MakeDirFunc: n.makeWorkDir, Self: self, Call: trusted.Send,
		},
		n.log,
	)
	return nil
}

// startActions interrupts the actions that run when the node stops.
func (n *node) startActions(context.Context) (stop func(), err error) { return n.actions.Stop, nil }

// jobDoors returns the ways out of the sandboxes.
func (n *node) jobDoors() door.Doors {
	return door.Doors{
		CallbackFunc: n.serveDoor, TunnelFunc: n.connections.TunnelListener, Environ: n.opts.Config.Environ, Log: n.refusals,
	}
}

// repositories returns the policy for repositories in requests. A node with only one of
// the two roles cannot identify the requester, so its policy is not open.
func (n *node) repositories() outbound.Policy {
	c, whole := n.opts.Config, n.opts.Role == All
	return outbound.Policy{
		Open: !c.Secured() && whole, Private: c.RepositoryPrivate, Paths: c.RepositoryPaths, Data: c.DataDir, Local: whole,
	}
}
