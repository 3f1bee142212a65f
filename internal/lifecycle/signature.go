package lifecycle

import (
	"context"

	"ringback/internal/job"
)

type signatureKey struct{}

// WithSignature has all commands that are run with the context count only while the
// signature is that of the job's turn. Each turn has one of its own, so a process of an
// earlier turn, or one whose node was thought dead, changes nothing any more: that is
// looked at in the same step as everything else, so nothing comes in between.
func WithSignature(ctx context.Context, s job.Signature) context.Context {
	return context.WithValue(ctx, signatureKey{}, s)
}

// checkSignature refuses a command that is signed for another turn. A job that has ended
// without a result says that itself.
func (st *State) checkSignature(ctx context.Context) error {
	signature, signed := ctx.Value(signatureKey{}).(job.Signature)
	j := st.Job
	if !signed || j == nil || j.State.Terminal() && j.State != job.Received || signature.Matches(j.Signature) {
		return nil
	}
	return WrongSignature()
}

// WrongSignature is the error for a callback whose signature is not that of the job's
// turn.
func WrongSignature() error {
	return job.Errorf(job.Forbidden, "Invalid signature").
		WithHint("Send the HMAC_SIGNATURE of your callback configuration as hmac, unchanged. If you did, another turn of this job has begun and yours is over: stop now, and submit nothing more.")
}
