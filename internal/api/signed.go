package api

import (
	"bytes"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/httpjson"
	"ringback/internal/job"
	"ringback/internal/notify"
)

const inboundKey = "INBOUND_WEBHOOK_SECRET"

// signed reports whether the caller signed its request, as Standard Webhooks are, instead of
// sending a key. A route declares whether it accepts that. The caller acts for the users that it
// names, and may do no more than they.
func (c caller) signed() bool { return c.webhookID != "" }

// identifySigned is identify for routes that also take a signature.
func (s *Server) identifySigned(c echo.Context) (caller, error) {
	r := c.Request()
	if len(s.opts.InboundSecrets) == 0 || r.Header.Get(notify.HeaderSignature) == "" ||
		r.Header.Get(echo.HeaderAuthorization) != "" {
		return s.identify(c)
	}
	body, err := httpjson.ReadBody(c.Response(), r, maxBody)
	if err != nil {
		return caller{}, err
	}
	if err := s.opts.InboundSecrets.Verify(r.Header, body); err != nil {
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, challenge)
		return caller{}, job.Errorf(job.Unauthorized, "Not authorized: %s", err).
			WithHint("Sign webhook-id.webhook-timestamp.body with the secret of " + inboundKey +
				" as https://www.standardwebhooks.com specifies, each time you send it.")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return caller{key: inboundKey, webhookID: r.Header.Get(notify.HeaderID)}, nil
}

// idempotencyKey is the key of a caller's request; empty for none. Of one that is signed, it
// is in the body, or the id of the message: other headers and the query are not signed, so
// an attacker who repeats the request could change them.
func (c caller) idempotencyKey(header http.Header, inBody string) (string, error) {
	switch {
	case !c.signed():
		return idempotencyKey(header, inBody)
	case inBody != "":
		return inBody, checkName("/idempotencyKey", inBody, job.KeyNames)
	case job.KeyNames.Fault(c.webhookID) != "":
		return "", job.Errorf(job.Invalid, "Invalid header "+notify.HeaderID).WithHint("Send 1 to 256 characters.")
	}
	return c.webhookID, nil
}
