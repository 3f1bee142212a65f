package callback

import (
	"net/http"

	"ringback/internal/job"
	"ringback/internal/people/notify"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
)

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
	isSame, err := h.store.NoteWebhook(in.ctx, in.id, id, job.Digest(in.webhook.body))
	if err != nil || isSame {
		return err
	}
	return job.Errorf(job.Conflict, "The %s %q belongs to another message", notify.HeaderID, id).
		WithHint("Give each message a unique id, and use it again only if you send the same message again.")
}
