package console

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/web/console/form"
)

type startForm struct {
	Kind client.Kind
	Form form.Field
	// From is the job that provides the filled-in input; empty for none.
	From string
	// Sent is what was filled in, apart from the input. Tags are separated by spaces.
	Sent        url.Values
	Faults      []string
	Simulations []job.Simulation
}

func (c *Console) kinds(v *visit) error {
	found, err := v.api().Kinds(v.Request().Context())
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "kinds", page{Title: "New job", Tab: "jobs", Data: found.Value.Kinds})
}

// newJob shows the form of a kind. If the URL names a job, its input is filled in, so that it can
// be started again with changes.
func (c *Console) newJob(v *visit) error {
	k, s, err := v.kind()
	if err != nil {
		return err
	}
	values, shown := s.Initial(nil), startForm{Kind: k, From: v.QueryParam("from"), Sent: url.Values{}}
	if shown.From != "" {
		found, err := v.api().Get(v.Request().Context(), job.ID(shown.From))
		if err != nil {
			return err
		}
		values = s.Fill(found.Value.Input)
		shown.Sent.Set("userId", found.Value.UserID)
		shown.Sent.Set("tags", strings.Join(found.Value.Tags, " "))
	}
	shown.Form = s.Form(values, nil)
	return v.renderStart(http.StatusOK, shown)
}

func (v *visit) kind() (client.Kind, *form.Schema, error) {
	found, err := v.api().Kind(v.Request().Context(), v.Param("kind"))
	if err != nil {
		return client.Kind{}, nil, err
	}
	s, err := form.Parse(found.Value.InputSchema)
	return found.Value, s, err
}

// keyField is the form's field with the key that lets it start one job only, however often it is sent.
const keyField = "idempotencyKey"

func (v *visit) renderStart(status int, f startForm) error {
	if f.Sent.Get(keyField) == "" {
		f.Sent.Set(keyField, rand.Text())
	}
	f.Simulations = job.Simulations[:]
	return v.render(status, "new_job", page{Title: "New " + f.Kind.Name, Tab: "jobs", Data: f})
}

func (c *Console) startJob(v *visit, sent url.Values) error {
	k, s, err := v.kind()
	if err != nil {
		return err
	}
	shown := startForm{Kind: k, Sent: sent}
	if edited, again := s.Edit(sent); again {
		shown.Form = s.Form(edited, nil)
		return v.renderStart(http.StatusOK, shown)
	}
	input, faults := s.Decode(sent)
	if len(faults) > 0 {
		shown.Form = s.Form(sent, faults)
		return v.renderStart(http.StatusBadRequest, shown)
	}
	created, err := v.api().Create(v.Request().Context(), client.NewJob{
		Kind: k.Name, Input: input, UserID: strings.TrimSpace(sent.Get("userId")), Tags: strings.Fields(sent.Get("tags")),
		Options: job.Options{Simulate: job.Simulation(sent.Get("simulate"))}, IdempotencyKey: sent.Get(keyField),
	})
	if err == nil {
		return v.see(here.Job(created.Value.RequestID, ""))
	}
	e := v.asError(err)
	if e.Kind == job.Conflict { // it was sent before, and changed since
		e.Message, e.Hint = "This form has started a job already, from other input", "It is in the list of jobs. Send the form again to start another one."
		sent.Del(keyField)
	}
	faults, shown.Faults = splitFaults(e, "/input")
	shown.Form = s.Form(sent, faults)
	return v.renderStart(statusOf(e), shown)
}
