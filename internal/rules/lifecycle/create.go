package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
)

// Request is a caller's request for a job.
type Request struct {
	// UserID is the user that the job is for. The caller must be allowed to act for this user.
	UserID string
	// By is the caller. ByBackEnd is true if the caller is a back end, which may do more than a person.
	By        job.Actor
	ByBackEnd bool
	Kind      string
	Input     map[string]any
	// SessionID is the chat that the job belongs to; empty for a new one.
	SessionID string
	// Tags group the job with others.
	Tags    []string
	Options job.Options
	// IdempotencyKey makes a repeated request return the first request's job; empty for none.
	IdempotencyKey string
}

// Create creates a job as requested. For a known idempotency key, it returns the job of the first
// request.
//
// Errors: NotFound for an unknown kind; Invalid with the wrong fields, named as in POST /api/jobs;
// Forbidden for an option that only back ends may use; Conflict if the kind cannot run here, or if
// the key was used for a different request.
func (s *Service) Create(ctx context.Context, r Request) (job.Job, error) {
	k, err := s.kindOf(r)
	if err != nil {
		return job.Job{}, err
	}
	if err := checkOptions(k, r); err != nil {
		return job.Job{}, err
	}
	if fault := job.SessionNames.Fault(r.SessionID); r.SessionID != "" && fault != "" {
		return job.Job{}, job.InvalidField("/sessionId", fault)
	}
	if err := s.checkStructured(k, r.Options); err != nil {
		return job.Job{}, err
	}
	tags, err := job.CheckTags(r.Tags)
	if err != nil {
		return job.Job{}, err
	}
	input, err := s.checkInput(k, r)
	if err != nil {
		return job.Job{}, err
	}
	request := job.NewRequestMessage(k.Name, r.Input)
	request.By = r.By.SpeaksFor(r.UserID)
	n := s.newJobOf(k, r.UserID, input, r.Options)
	n.APIKey, n.SessionID, n.Tags, n.IdempotencyKey, n.Request = r.By.Key, r.SessionID, tags, r.IdempotencyKey, &request
	return s.Start(ctx, n)
}

// checkStructured rejects a kind that needs callbacks if this server accepts none.
func (s *Service) checkStructured(k *kind.Kind, o job.Options) error {
	if !s.opts.Structured || hasNoProcess(o, k.Policy.Workspace != nil) {
		return nil
	}
	return k.CheckStructured()
}

func (s *Service) kindOf(r Request) (*kind.Kind, error) {
	if r.Kind == "" {
		return nil, job.InvalidField("/kind", "is required but missing; expected one of: "+strings.Join(s.KindNames(), ", "))
	}
	k, ok := s.Kind(r.Kind)
	if !ok {
		return nil, job.Errorf(job.NotFound, "Unknown kind %q", r.Kind).
			WithHint(
				"Known kinds are: %s. A server reads kinds when it starts, and again on ringback kinds reload.",
				strings.Join(s.KindNames(), ", "),
			)
	}
	return k, nil
}

func checkOptions(k *kind.Kind, r Request) error {
	if sim := r.Options.Simulate; sim != job.SimulateNone {
		if !r.ByBackEnd {
			return ForBackEnds("options.simulate")
		}
		if !slices.Contains(job.Simulations[:], sim) {
			return job.UnknownName("/options/simulate", string(sim), job.Simulations[:])
		}
	}
	if p := r.Options.Priority; p != "" && p != job.Interactive && p != job.Batch {
		return job.UnknownName("/options/priority", string(p), []job.Priority{job.Interactive, job.Batch})
	}
	if b := r.Options.BudgetUSD; b < 0 || b > kind.MaxBudget {
		return job.InvalidField("/options/budgetUsd", fmt.Sprintf("found %g; expected 0 (the kind's budget) to %d", b, kind.MaxBudget))
	} else if b > k.Policy.BudgetUSD && !r.ByBackEnd && k.Policy.BudgetUSD > 0 {
		return ForBackEnds("A budget above the kind's (options.budgetUsd)")
	}
	return nil
}

// checkInput validates the input and returns it in its stored form.
func (s *Service) checkInput(k *kind.Kind, r Request) (json.RawMessage, error) {
	values := r.Input
	if values == nil {
		values = map[string]any{}
	}
	details := k.Input.Validate(values)
	if details == nil {
		details = k.CheckInput(values)
	}
	if details != nil {
		return nil, job.Errorf(job.Invalid, "Invalid input for kind %q", k.Name).
			WithHint("GET /api/kinds/%s shows its input schema.", k.Name).WithDetails(job.Under("/input", details)...)
	}
	input, err := json.Marshal(values)
	if err != nil || k.Policy.Workspace == nil {
		return input, err
	}
	if !r.ByBackEnd {
		if err := checkByPerson(input); err != nil {
			return nil, err
		}
	}
	return input, s.checkRepositories(k, input)
}

// checkRepositories rejects repositories that a request may not name, before anything is stored.
func (s *Service) checkRepositories(k *kind.Kind, input json.RawMessage) error {
	change, err := k.Change(input)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return job.InvalidField(
			"/input/"+strings.ReplaceAll(wrong.Field, ".", "/"), "found "+wrong.Value+", which a change cannot have there",
		)
	}
	if err != nil {
		return job.InvalidField("/input", err.Error())
	}
	if len(change.Repositories) == 0 {
		return job.InvalidField("/input/repos", "name at least one repository: neither the request nor the kind names any")
	}
	i := 0
	for _, r := range change.Repositories {
		if !r.FromRequest {
			continue
		}
		field, fault := "url", s.opts.Repositories.Fault(r.URL, r.Logins)
		if fault == "" {
			field, fault = r.Fault()
		}
		if fault == "" {
			field, fault = "url", s.opts.Repositories.Missing(r.URL)
		}
		if fault != "" {
			return job.InvalidField(fmt.Sprintf("/input/repos/%d/%s", i, field), fault)
		}
		i++
	}
	return nil
}

// checkByPerson rejects requests that would let any user run commands on the server, or read its
// disk.
func checkByPerson(input json.RawMessage) error {
	var asked struct {
		Repos     []job.Repository `json:"repos"`
		Verifiers []job.Verifier   `json:"verifiers"`
	}
	if err := job.UnmarshalExact(input, &asked); err != nil {
		return job.InvalidField("/input", "repos and verifiers are invalid: "+err.Error())
	}
	if len(asked.Verifiers) > 0 {
		return ForBackEnds("Giving verifiers, which run on the server,")
	}
	for _, r := range asked.Repos {
		remote := strings.HasPrefix(r.URL, "https://") || strings.HasPrefix(r.URL, "ssh://") || strings.HasPrefix(r.URL, "git@")
		if !remote {
			return ForBackEnds("Naming a repository by anything but https or ssh")
		}
	}
	return nil
}
