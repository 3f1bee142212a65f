package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/job/price"
	"ringback/internal/server/config"
	"ringback/internal/turn/model"
	"ringback/internal/turn/runner"
)

// startNode takes this node's name in the store, if it runs turns, and the place of an embedded store.
func (n *node) startNode(ctx context.Context) (stop func(), err error) {
	if n.opts.Role != API {
		if n.runner, err = n.newRunner(); err != nil {
			return nil, err
		}
		if err := n.untilAvailable(ctx, n.runner.Hold); err != nil {
			return nil, err
		}
	}
	return nil, n.settle(ctx)
}

// watchClaim ends the wait for turns, also while the node is stopping, once this node may not run any.
func (n *node) watchClaim(ctx context.Context) {
	var err error
	select {
	case <-ctx.Done():
		return
	case err = <-n.db.failed(): // without the store, the node cannot wait for anything
	case err = <-n.unwanted: // another version writes the store now
	case err = <-n.superseded(): // another server has this one's turns now
	}
	n.stopDraining()
	n.lost <- err
}

// startTurns runs turns. Callbacks are served until they have stopped, because draining turns need them.
func (n *node) startTurns(ctx context.Context) (stop func(), err error) {
	intake, stopIntake := context.WithCancel(ctx)
	var drain context.Context
	drain, n.stopDraining = context.WithCancel(context.Background())
	var turns sync.WaitGroup
	if n.runner != nil {
		turns.Go(func() { n.runner.Run(intake, drain) })
	}
	n.lost = make(chan error, 1)
	stopWatching := running(n.watchClaim)
	return func() {
		defer stopWatching()
		defer n.stopDraining()
		stopIntake()
		if n.opts.Drain {
			defer time.AfterFunc(n.opts.DrainTimeout, n.stopDraining).Stop()
			select { // load balancers poll /readyz, and send jobs until then
			case <-time.After(n.opts.DrainGrace):
			case <-drain.Done():
			}
			n.refusing.Store(true)
		}
		turns.Wait()
	}, nil
}

// superseded is nil if the node runs no turns.
func (n *node) superseded() <-chan error {
	if n.runner == nil {
		return nil
	}
	return n.runner.Superseded()
}

func (n *node) newRunner() (*runner.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := n.opts.Config
	prices, err := pricesOf(c)
	if err != nil {
		return nil, err
	}
	o := turnOptions(c)
	o.ClaudeBin, o.Simulator, o.Simulate, o.CallbackBaseURL = n.claude.Bin, self, n.claude.Simulated, n.callbackBaseURL()
	o.Sandbox, o.Doors, o.Repositories = n.sandbox.Sandbox, n.jobDoors(), n.repositories()
	o.OwnStore = n.db.embedded != nil
	o.Meter, o.CheckFunc, o.Drain = model.NewMeter(n.store, prices, n.log), n.checkTurns, n.opts.Drain
	o.StoreRoomFunc = n.checkStoreRoom
	return runner.New(n.store, n.jobs, n.checkpoints, o, n.log)
}

// turnOptions returns the options of turns that depend only on the configuration.
func turnOptions(c config.Config) runner.Options {
	return runner.Options{
		ClaudeArgs: strings.Fields(c.ClaudeArgs), FallbackModel: c.FallbackModel, CallbackBaseURL: c.CallbackBaseURL, Hold: c.Hold,
		Structured: !c.UseCallback, Environ: c.Environ, Budgets: budgetsOf(c), Dir: c.DataDir,
		ConversationLimit: limit.Bytes(c.ConversationLimit), ChangeLimit: limit.Bytes(c.ChangeLimit),
		MirrorsLimit: limit.Bytes(c.MirrorsLimit),
		Workers:      c.Workers, Heartbeat: c.NodeTimeout / 6, Backoff: c.RetryBackoff,
	}
}

func pricesOf(c config.Config) (*price.Table, error) {
	prices, err := price.Load(c.PricesFile)
	if err != nil {
		return nil, fmt.Errorf("PRICES_FILE %s: %w", c.PricesFile, err)
	}
	return prices, nil
}

// budgetsOf returns the daily budgets that do not depend on a kind.
func budgetsOf(c config.Config) job.Spending {
	return job.Spending{User: price.FromUSD(c.BudgetPerUserPerDay), Server: price.FromUSD(c.BudgetPerDay)}
}

// checkTurns returns an error if no turn could start on this node now.
func (n *node) checkTurns() error {
	_, err := readDisk(&n.disk, "turns", func() (string, error) {
		err := cmp.Or(checkDataDir(n.opts.Config.DataDir), checkRoom(n.opts.Config.DataDir, 1))
		if err != nil || n.claude.Simulated {
			return "", err
		}
		bin, err := exec.LookPath(n.claude.Bin)
		if err != nil {
			err = fmt.Errorf("CLAUDE_BIN %s cannot be run: %w", n.claude.Bin, errors.Unwrap(err))
		}
		return bin, err
	})
	return err
}
