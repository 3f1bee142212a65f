package callback

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/turn/claude"
	"ringback/internal/web/guard"
	"ringback/internal/web/httpjson"
)

const (
	invalidPayload   = "Invalid payload"
	unknownOrExpired = "Unknown or expired request"
)

// call is one callback with a valid envelope and signature.
type call struct {
	ctx    context.Context //nolint:containedctx // a call is one HTTP request
	id     job.ID
	header store.JobHeader
	// state is the job's state when the call arrived; empty for an endpoint that uses the cache.
	state   job.State
	payload map[string]any
	// text is the body with its members in their order.
	text string
	// signature is the signature of the call; empty if it has none. webhook is another proof.
	signature job.Signature
	webhook   *webhook
	// name is the name of the action in the path.
	name    string
	address string
	limiter *rate.Limiter
	// unknown is this endpoint's message about an unknown request.
	unknown string
	// quiet is true if it is known that no message waits to be delivered to the turn.
	quiet bool
	// deliveries are what the answer delivers. The calls of one request share them.
	deliveries *deliveries
	recording  *sync.RWMutex
}

// open reads a callback up to its signature. With an error, it returns the call as far
// as it was read.
func (h *Handler) open(c echo.Context, ep endpoint) (*call, error) {
	body, text, err := httpjson.ReadObject(c.Response(), c.Request(), h.opts.BodyLimit)
	if err != nil {
		return nil, forClaude(err)
	}
	in := newCall(c, ep, body, text)
	return in, h.admit(in, ep)
}

// newCall returns a call whose body was read. The envelope may be in headers, if the caller cannot write the body: of the
// CLI's hook, and of its requests over MCP.
func newCall(c echo.Context, ep endpoint, payload map[string]any, body string) *call {
	r := c.Request()
	guard.Received(r)
	for _, of := range [...]struct{ field, header string }{{"requestId", claude.HeaderRequestID}, {"hmac", claude.HeaderSignature}} {
		if value := r.Header.Get(of.header); value != "" {
			payload[of.field] = value
		}
	}
	return &call{
		ctx: r.Context(), payload: payload, text: body, unknown: ep.unknown, name: c.Param("name"), address: c.RealIP(),
		webhook: webhookOf(r.Header, body), deliveries: new(deliveries),
	}
}

// admit checks a call from its envelope to its signature.
func (h *Handler) admit(in *call, ep endpoint) error {
	if err := in.cutEnvelope(ep.unsigned || in.webhook != nil); err != nil {
		return err
	}
	if only := Caller(in.ctx); only != "" && only != in.id {
		return job.Errorf(job.Forbidden, "This is another job's request").
			WithHint("Use the REQUEST_ID of your callback configuration, unchanged.")
	}
	r, fresh, err := h.lookUp(in)
	if err != nil {
		return err
	}
	if r, fresh, err = h.checkSignature(in, r, fresh); err != nil {
		return err
	}
	sig := in.signature
	in.header, in.limiter, in.recording = r.header, r.limiter, r.recording
	in.recording.RLock() // the answer before may not be recorded yet
	defer in.recording.RUnlock()
	if !fresh && !ep.cached { // another turn may have started, and this caller's may be over
		var known bool
		if in.header, in.state, known, err = h.store.Header(in.ctx, in.id); err != nil || !known {
			return cmp.Or(err, in.unknownRequest())
		}
		if sig != "" && !in.header.Signed(sig) {
			return lifecycle.WrongSignature()
		}
	}
	if sig == "" {
		in.header = in.header.Unsigned()
	}
	return h.noteWebhook(in)
}

// lookUp finds the request of a call, in the cache or the store.
func (h *Handler) lookUp(in *call) (r *request, isFresh bool, err error) {
	if r, cached := h.cache.Get(in.id); cached {
		return r, false, nil
	}
	if !h.stranger(in).Allow() {
		return nil, false, tooFast()
	}
	r, err = h.refresh(in)
	return r, true, err
}

// checkSignature checks the signature, if there is one, and then the caller's rate. The cache may be stale: before
// a call is refused because of it, the request is read again. A valid signature counts
// for the job, everything else for the caller's address: otherwise a stranger with a requestId could
// use up the job's rate. A wrong signature is checked again with the current state of the store, because
// each turn has a new secret.
func (h *Handler) checkSignature(in *call, r *request, fresh bool) (*request, bool, error) {
	sig, refused := in.signer(r.header)
	if refused != nil && !fresh {
		if !r.refreshes.Allow() {
			return nil, false, tooFast()
		}
		var err error
		if r, err = h.refresh(in); err != nil {
			return nil, false, err
		}
		sig, refused = in.signer(r.header)
		fresh = true
	}
	limiter := r.limiter
	if in.signature = sig; sig != "" {
		in.ctx = lifecycle.WithSignature(in.ctx, sig)
	} else {
		limiter = h.stranger(in)
	}
	switch {
	case !limiter.Allow():
		return nil, false, tooFast()
	case refused != nil:
		return nil, false, refused
	}
	return r, fresh, nil
}

// stranger returns the limiter of a caller without a valid signature. All doors have the same address, and
// each belongs to a job.
func (h *Handler) stranger(in *call) *rate.Limiter {
	fresh := rate.NewLimiter(rate.Limit(h.opts.Rate), int(h.opts.Rate))
	limiter, known, _ := h.strangers.PeekOrAdd(cmp.Or(string(Caller(in.ctx)), in.address), fresh)
	if !known {
		return fresh
	}
	return limiter
}

// forClaude adds a hint for Claude to an error about a body: its payloads are files that curl
// sends.
func forClaude(err error) error {
	e, ok := errors.AsType[*job.Error](err)
	if !ok {
		return err
	}
	switch e.Kind {
	case job.Invalid:
		e.Hint = strings.TrimSpace(e.Hint + " Correct the payload file and send it again.")
	case job.TooLarge:
		e.Hint = strings.TrimSpace(e.Hint + " Shorten the payload, or send the result in batches.")
	default:
	}
	return e
}

type callerKey struct{}

// WithCaller returns a context in which only callbacks of one job are allowed.
func WithCaller(ctx context.Context, id job.ID) context.Context {
	return context.WithValue(ctx, callerKey{}, id)
}

// Caller returns the only job that may be called back for in a context; empty for any.
func Caller(ctx context.Context) job.ID {
	id, _ := ctx.Value(callerKey{}).(job.ID)
	return id
}

// cutEnvelope moves requestId and hmac out of the payload.
func (in *call) cutEnvelope(unsigned bool) error {
	var details []job.Detail
	text := func(field string, required bool) string {
		v, present := in.payload[field]
		delete(in.payload, field)
		s, isText := v.(string)
		switch {
		case !present && required:
			details = append(
				details,
				job.Detail{Path: "/" + field, Message: "is required but missing; expected the string from the callback configuration"},
			)
		case present && (!isText || s == ""):
			details = append(details, job.Detail{Path: "/" + field, Message: "expected the string from the callback configuration"})
		}
		return s
	}
	in.id = job.ID(text("requestId", true))
	in.signature = job.Signature(text("hmac", !unsigned))
	if details == nil {
		return nil
	}
	return job.Errorf(job.Invalid, invalidPayload).WithDetails(details...)
}

// maxRefreshes limits how often per second a request is read again because of wrong signatures. A new turn's
// signature is valid at once, regardless of which call caused the last reading.
const maxRefreshes = 200

// refresh reads the request again. A request that has ended without a result accepts no
// callbacks.
func (h *Handler) refresh(in *call) (*request, error) {
	header, state, ok, err := h.store.Header(in.ctx, in.id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, in.unknownRequest()
	}
	if in.state = state; state.Terminal() && state != job.Received {
		return nil, in.late(state)
	}
	most := min(h.opts.Rate, maxRefreshes)
	r := &request{
		header:    header,
		limiter:   rate.NewLimiter(rate.Limit(h.opts.Rate), int(h.opts.Rate)),
		refreshes: rate.NewLimiter(rate.Limit(most), int(most)),
		recording: new(sync.RWMutex),
	}
	if before, cached := h.cache.Peek(in.id); cached {
		r.recording = before.recording
		r.refreshes = before.refreshes // refreshing must not raise a caller's rate
		if before.header == header {   // nor may an earlier turn use up that of a new one
			r.limiter = before.limiter
		}
	}
	h.cache.Add(job.ID(strings.Clone(string(in.id))), r) // a substring would keep the whole body
	return r, nil
}

func (in *call) unknownRequest() error {
	return job.Errorf(job.NotFound, "%s", in.unknown).
		WithHint("Use the REQUEST_ID of your callback configuration, unchanged.")
}

// check returns why a payload does not fit one of our schemas. As in the API's bodies, a null field
// counts as absent.
func (h *Handler) check(in *call, source string) error {
	maps.DeleteFunc(in.payload, func(_ string, value any) bool { return value == nil })
	if details := h.schemas[source].Validate(in.payload); details != nil {
		return h.wrongPayload(in, details)
	}
	return nil
}

// wrongPayload answers a payload that breaks its schema. If the request is no longer
// open, or the turn is over, it returns that error instead.
func (h *Handler) wrongPayload(in *call, details []job.Detail) error {
	r, err := h.refresh(in)
	if err != nil {
		return err
	}
	if in.signature != "" && !r.header.Signed(in.signature) {
		return lifecycle.WrongSignature()
	}
	return job.Errorf(job.Invalid, invalidPayload).
		WithHint("Correct each of these and send the whole payload again.").WithDetails(details...)
}
