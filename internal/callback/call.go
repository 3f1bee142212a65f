package callback

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"ringback/internal/claude"
	"ringback/internal/httpjson"
	"ringback/internal/job"
	"ringback/internal/store"
)

const (
	invalidPayload   = "Invalid payload"
	unknownOrExpired = "Unknown or expired request"
)

// call is one callback whose envelope and signature are in order.
type call struct {
	ctx     context.Context //nolint:containedctx // a call is one HTTP request
	id      job.ID
	facts   store.Facts
	payload map[string]any
	// name is the action that the path names.
	name string
	// unknown is what this endpoint says of a request it does not know.
	unknown string
}

// open reads a callback up to its signature. optional allows it to be absent.
// The call is returned with the error as far as it was read.
func (h *Handler) open(c echo.Context, unknown string, optional bool) (*call, error) {
	body, err := httpjson.ReadObject(c.Response(), c.Request(), h.opts.BodyLimit)
	if err != nil {
		return nil, err
	}
	takeHeaders(c.Request(), body)
	in := &call{ctx: c.Request().Context(), payload: body, unknown: unknown, name: c.Param("name")}
	sig, err := in.takeEnvelope(optional)
	if err != nil {
		return in, err
	}
	known, err := h.lookUp(in)
	if err != nil {
		return in, err
	}
	if !known.pace.Allow() {
		return in, tooFast()
	}
	in.facts = known.facts
	if sig == "" || known.facts.Signed(sig) {
		return in, nil
	}
	return in, h.wrongSignature(in, sig)
}

// takeHeaders reads the envelope of a call whose body is not its caller's to
// write: the CLI's hook.
func takeHeaders(r *http.Request, body map[string]any) {
	for field, header := range map[string]string{"requestId": claude.HeaderRequestID, "hmac": claude.HeaderSignature} {
		if value := r.Header.Get(header); value != "" {
			body[field] = value
		}
	}
}

// takeEnvelope moves requestId and hmac out of the payload.
func (in *call) takeEnvelope(optional bool) (store.Signature, error) {
	var details []job.Detail
	text := func(field string, required bool) string {
		v, present := in.payload[field]
		delete(in.payload, field)
		s, isText := v.(string)
		switch {
		case !present && required:
			details = append(details, job.Detail{Path: "/" + field, Message: "is required but missing; expected the string from the callback configuration"})
		case present && (!isText || s == ""):
			details = append(details, job.Detail{Path: "/" + field, Message: "expected the string from the callback configuration"})
		}
		return s
	}
	in.id = job.ID(text("requestId", true))
	sig := store.Signature(text("hmac", !optional))
	if details == nil {
		return sig, nil
	}
	e := job.Errorf(job.Invalid, invalidPayload)
	e.Details = details
	return "", e
}

// lookUp finds the request a call names, in the cache or the store.
func (h *Handler) lookUp(in *call) (*request, error) {
	if known, ok := h.known.Get(in.id); ok {
		return known, nil
	}
	if !h.strangers.Allow() {
		return nil, tooFast()
	}
	return h.refresh(in)
}

// refresh reads the request anew. A request that has ended without a result
// takes no callbacks.
func (h *Handler) refresh(in *call) (*request, error) {
	facts, state, ok, err := h.store.Facts(in.ctx, in.id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, job.Errorf(job.NotFound, "%s", in.unknown).
			WithHint("Use the REQUEST_ID of your callback configuration, unchanged.")
	}
	if state.Terminal() && state != job.Received {
		return nil, late(state)
	}
	pace := rate.NewLimiter(rate.Limit(h.opts.Rate), int(h.opts.Rate))
	if before, ok := h.known.Peek(in.id); ok {
		pace = before.pace
	}
	known := &request{facts: facts, pace: pace}
	h.known.Add(in.id, known)
	return known, nil
}

// wrongSignature makes sure that the signature is wrong by what the store
// knows now, and that the request is still open.
func (h *Handler) wrongSignature(in *call, sig store.Signature) error {
	known, err := h.refresh(in)
	if err != nil {
		return err
	}
	if known.facts.Signed(sig) {
		in.facts = known.facts
		return nil
	}
	return job.Errorf(job.Forbidden, "Invalid signature").
		WithHint("Send the HMAC_SIGNATURE of your callback configuration as hmac, unchanged.")
}

// wrongPayload answers a payload that breaks its schema; but a request that is
// no longer open is told that instead.
func (h *Handler) wrongPayload(in *call, details []job.Detail) error {
	if _, err := h.refresh(in); err != nil {
		return err
	}
	e := job.Errorf(job.Invalid, invalidPayload).
		WithHint("Correct each of these in the payload file and send the whole payload again.")
	e.Details = details
	return e
}

// late tells a caller why nothing more can be submitted, in the same words on
// every endpoint: the request is known, but over.
func late(state job.State) error {
	reason := map[job.State]string{
		job.Expired:   "The job's deadline has passed.",
		job.Cancelled: "The job was cancelled.",
		job.Rejected:  "A person rejected the job's result.",
		job.Failed:    "The job has failed.",
		job.Received:  "The job's result was already accepted.",
	}[state]
	return job.Errorf(job.NotFound, unknownOrExpired).
		WithHint("%s Nothing more can be submitted for it: stop now.", reason)
}

// refused turns the outcome of a callback that was not accepted into an error.
func (in *call) refused(outcome store.Outcome) error {
	switch outcome {
	case store.Unknown:
		return job.Errorf(job.NotFound, "%s", in.unknown)
	case store.Conflict:
		return job.Errorf(job.Conflict, "A different result was already accepted").
			WithHint("The first result stands. Do not submit again: your task is complete.")
	case store.Busy:
		return job.Errorf(job.Conflict, "Another question of yours still waits for its answer").
			WithHint("Wait for that answer first; ask one question at a time.")
	case store.Outcome(job.AwaitingApproval), store.Outcome(job.AwaitingInput):
		return job.Errorf(job.Conflict, "The user was asked and has not answered yet").
			WithHint("Nothing can be submitted until then. Stop now: you will be called again with the reply.")
	case store.Outcome(job.Pending):
		return job.Errorf(job.Conflict, "The job is not running").WithHint("Stop now: it will be started again.")
	case store.Accepted, store.Repeated, store.Stale, store.Asked, store.Started, store.Known, store.Unapproved:
		return job.Errorf(job.Internal, "Unexpected outcome %s", outcome)
	}
	return late(job.State(outcome))
}

func tooFast() error {
	return job.Errorf(job.TooMany, "Too many callbacks").
		WithHint("Wait a second, then send it again (curl --retry does).")
}
