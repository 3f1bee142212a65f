package callback

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"ringback/internal/job"
	"ringback/internal/people/notify"
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
	r.awaitRecording()
	if !fresh && !ep.cached { // another turn may have started, and this caller's may be over
		var known bool
		if in.header, in.state, known, err = h.store.Calls.Header(in.ctx, in.id); err != nil || !known {
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

// awaitRecording waits until what the answer before has delivered is recorded.
func (r *request) awaitRecording() {
	r.recording.RLock()
	defer r.recording.RUnlock()
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
	header, state, ok, err := h.store.Calls.Header(in.ctx, in.id)
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

// late returns the error for a known request that is over, with the reason why nothing
// more can be submitted, in the same words as about an unknown one.
func (in *call) late(state job.State) error {
	reason := map[job.State]string{
		job.Expired:   "The job's deadline has passed.",
		job.Cancelled: "The job was cancelled.",
		job.Rejected:  "A person rejected the job's result.",
		job.Failed:    "The job has failed.",
		job.Received:  "The job's result was already accepted.",
	}[state]
	return job.Errorf(job.NotFound, "%s", in.unknown).
		WithHint("%s Nothing more can be submitted for it: stop now.", reason)
}

// errBusy refuses a question while another one waits.
var errBusy = job.Errorf(job.Conflict, "Another question of yours still waits for its answer").
	WithHint("Wait for that answer first; ask one question at a time.")

// outcomeError returns err, or why the outcome of a callback is not accepted; nil if it is.
func (in *call) outcomeError(o lifecycle.Outcome, err error) error {
	if err != nil || o.OK() {
		return err
	}
	return in.refused(o)
}

// refused turns the outcome of a callback that was not accepted into an error.
func (in *call) refused(o lifecycle.Outcome) error {
	switch o.Kind {
	case lifecycle.Unknown:
		return job.Errorf(job.NotFound, "%s", in.unknown)
	case lifecycle.Conflict:
		return job.Errorf(job.Conflict, "A different result was already accepted").
			WithHint("The first result counts. Do not submit again: your task is complete.")
	case lifecycle.Busy:
		return errBusy
	case lifecycle.Stale:
		return job.Errorf(job.Unavailable, "Other batches arrived at the same moment").WithHint("Send this batch again.")
	case lifecycle.Refused:
		switch {
		case o.State.Terminal():
			return in.late(o.State)
		case o.State.Parked():
			return job.Errorf(job.Conflict, "The user was asked and has not answered yet").
				WithHint("Nothing can be submitted until then. Stop now: you will be called again with the reply.")
		case o.State == job.Pending:
			return job.Errorf(job.Conflict, "The job is not running").WithHint("Stop now: it will be started again.")
		}
	default:
	}
	return job.Errorf(job.Internal, "Unexpected outcome %s", o)
}

func tooFast() error {
	return job.Errorf(job.TooMany, "Too many callbacks").
		WithHint("Wait a second, then send it again.")
}

// webhook holds the headers and the body of a callback that is signed as a Standard Webhook, so that its
// signature covers the body. It is nil for one without such headers.
type webhook struct {
	header http.Header
	body   []byte
}

func webhookOf(header http.Header, body string) *webhook {
	for _, name := range [...]string{notify.HeaderID, notify.HeaderTimestamp, notify.HeaderSignature} {
		if len(header.Values(name)) > 0 { // one alone is a webhook, too: a wrong one
			return &webhook{header, []byte(body)}
		}
	}
	return nil
}

// signer returns the signature of the turn by whose secret a call is signed; empty for a call without
// proof. Callers that have only the turn's hmac may sign with that. Error: Forbidden if any proof that a
// call carries is wrong.
func (in *call) signer(h store.JobHeader) (job.Signature, error) {
	sig, secret := in.signature, h.Secret()
	switch {
	case in.webhook == nil, secret == "" && sig != "" && h.Signed(sig): // nothing of an ended job can change
	case secret == "" && in.state.Terminal():
		return "", in.late(in.state)
	case secret == "":
		return "", lifecycle.WrongSignature()
	default:
		sig = secret.Sign(in.id)
		keys, err := notify.ParseSecrets(string(secret) + " " + string(sig))
		if err != nil {
			return "", err
		}
		if err := keys.Verify(in.webhook.header, in.webhook.body); err != nil {
			return "", job.Errorf(job.Forbidden, "Invalid signature: %v", err).
				WithHint("Sign webhook-id.webhook-timestamp.body with the HMAC_SIGNATURE of your callback configuration as the key. If you did, another turn of this job has begun and yours is over: stop now.")
		}
	}
	for _, one := range [...]job.Signature{in.signature, sig} {
		if one != "" && !h.Signed(one) {
			return "", lifecycle.WrongSignature()
		}
	}
	return sig, nil
}

// noteWebhook refuses a second message under the id of another one. The same message again is answered like
// any callback that is repeated. Error: Conflict.
func (h *Handler) noteWebhook(in *call) error {
	if in.webhook == nil {
		return nil
	}
	id := in.webhook.header.Get(notify.HeaderID)
	isSame, err := h.store.Calls.NoteWebhook(in.ctx, in.id, id, job.Digest(in.webhook.body))
	if err != nil || isSame {
		return err
	}
	return job.Errorf(job.Conflict, "The %s %q belongs to another message", notify.HeaderID, id).
		WithHint("Give each message a unique id, and use it again only if you send the same message again.")
}
