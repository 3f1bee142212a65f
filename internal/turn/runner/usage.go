package runner

import (
	"context"
	"slices"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/price"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/turn/model"
)

// apiUse holds what this start knows about a turn's use of the model's API.
type apiUse struct {
	// account is the account with which the turn was started; empty if an earlier start did that.
	account string
	// begun is the time at which it was started; zero if an earlier start did that.
	begun time.Time
	// answers are the API's responses and meter counts them; nil if the CLI calls the API itself.
	answers *model.Answers
	meter   *model.Turn
}

// apiUses are those of the turns that have not ended, by job.
type apiUses struct {
	mu    sync.Mutex
	byJob map[job.ID]apiUse
}

func (a *apiUses) of(id job.ID) apiUse {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byJob[id]
}

func (a *apiUses) change(id job.ID, change func(*apiUse)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	use := a.byJob[id]
	change(&use)
	if a.byJob == nil {
		a.byJob = map[job.ID]apiUse{}
	}
	a.byJob[id] = use
}

func (a *apiUses) remove(id job.ID) apiUse {
	a.mu.Lock()
	defer a.mu.Unlock()
	use := a.byJob[id]
	delete(a.byJob, id)
	return use
}

// usageFile records a turn's usage. No process in a sandbox can write it.
func (s *nodeDir) usageFile(id job.ID, turn int) string { return s.turnFile(id, turn, "usage") }

// measure starts the meter of a turn, or continues with it.
func (r *Runner) measure(j job.Job) *model.Turn {
	t := r.opts.Meter.Turn(j.ID, j.Turn, r.nodeDir.usageFile(j.ID, j.Turn), r.budgets(j))
	r.uses.change(j.ID, func(u *apiUse) { u.meter = t })
	return t
}

func (r *Runner) budgets(j job.Job) model.Limits {
	l := model.Limits{Days: r.opts.Budgets, OwnBudget: j.BudgetUSD > 0}
	if k, ok := r.jobs.Kinds().Get(j.Kind); ok { // its daily budget covers jobs of all versions
		l.Days.Kind = price.FromUSD(k.Policy.BudgetUSDPerDay)
	}
	return l
}

// checkBudgets returns the budget that prevents a turn from starting; nil for none.
func (r *Runner) checkBudgets(ctx context.Context, j job.Job) error {
	limits := r.budgets(j)
	if j.Simulated || limits.None() {
		return nil
	}
	account, err := r.store.Spending.Book(ctx, j.ID, j.Turn, store.Booking{})
	if err != nil {
		return err
	}
	if used := limits.UsedUp(account); used != nil {
		return used
	}
	return nil
}

// stopAtBudget records in the end of a turn that a budget is used up.
func (r *Runner) stopAtBudget(end *lifecycle.TurnEnd, j job.Job, used *job.UsedBudget) {
	end.Code, end.Message, end.Budget, end.OnBudget = job.CodeBudgetExceeded, used.Error(), used, job.FailOnBudget
	if k, err := r.kindOf(j); err == nil {
		end.OnBudget = k.Policy.OnBudget
	}
	r.log.Warn(
		"budget used up", "requestId", j.ID, "turn", j.Turn, "kind", j.Kind, "userId", j.UserID, "budgetOf", used.Of,
		"budgetUsd", used.Budget.USD(), "spentUsd", used.Spent.USD(), "then", end.OnBudget,
	)
}

// meterOf returns the meter of a turn; nil if its CLI calls the model's API itself.
func (r *Runner) meterOf(j job.Job) *model.Turn {
	if t := r.uses.of(j.ID).meter; t != nil {
		return t
	}
	if model.Exists(r.nodeDir.usageFile(j.ID, j.Turn)) { // an earlier start with another configuration has metered it
		return r.measure(j)
	}
	return nil
}

// reported returns a turn's usage according to the CLI. If the turn was metered, the
// meter counts instead, and reported returns none: any program of the turn can write to
// the CLI's output.
func (r *Runner) reported(j job.Job, printed job.Usage) job.Usage {
	t := r.meterOf(j)
	if t == nil {
		return printed
	}
	if used := t.Total(); printed.InputTokens > used.InputTokens || printed.OutputTokens > used.OutputTokens {
		r.log.Warn("usage ignored: the CLI reported more than the model's API", "requestId", j.ID, "turn", j.Turn,
			"inputTokens", printed.InputTokens, "outputTokens", printed.OutputTokens, "costUsd", printed.CostUSD,
			"meteredInputTokens", used.InputTokens, "meteredOutputTokens", used.OutputTokens, "meteredCostUsd", used.Cost.USD())
	}
	return job.Usage{}
}

// bookEnd books a turn's usage, and then its end. metered is nil if the CLI counted its usage.
func (r *Runner) bookEnd(ctx context.Context, e lifecycle.TurnEnd, metered *model.Turn) (job.State, error) {
	if metered != nil {
		if err := metered.Close(ctx); err != nil {
			return "", err
		}
	}
	state, err := r.jobs.EndTurn(ctx, e)
	if err != nil {
		return state, err
	}
	if metered == nil { // also add the CLI's reported usage to the day
		if _, err := r.store.Spending.Book(ctx, e.ID, e.Turn, store.Booking{}); err != nil { // the next one may run by now
			r.log.Warn("could not add a turn's cost to the day", "requestId", e.ID, "error", err)
		}
	}
	return state, nil
}

// knownTokens is the number of remembered tokens per turn: a conversation repeats them in each
// request.
const knownTokens = 1000

// recordDelivery returns a function that records the offers that appear in a turn's requests to the
// model, and are therefore delivered. It waits while the store is unavailable, so an offer is
// repeated only if it was never in a request.
func (r *Runner) recordDelivery(j job.Job) func(context.Context, []string) error {
	known := newCache[string, bool](knownTokens)
	return func(ctx context.Context, tokens []string) error {
		tokens = slices.DeleteFunc(tokens, known.Contains)
		if len(tokens) == 0 {
			return nil
		}
		if err := r.withStore(ctx, j.ID, func() error { return r.jobs.HearWords(ctx, j.ID, j.Turn, tokens) }); err != nil {
			return err
		}
		for _, token := range tokens {
			known.Add(token, true)
		}
		return nil
	}
}
