package lifecycle

import (
	"context"

	"ringback/internal/job"
)

type signatureKey struct{}

// WithSignature makes all commands that run with the context valid only while the signature is that
// of the job's turn. Every turn has its own, so a process of an earlier turn, or of a node that was
// presumed dead, can change nothing. The check is part of the commit, so no race is possible.
func WithSignature(ctx context.Context, s job.Signature) context.Context {
	return context.WithValue(ctx, signatureKey{}, s)
}

// checkSignature refuses a command that is signed for another turn. If a job has ended without a
// result, the command itself reports that.
func (st *State) checkSignature(ctx context.Context) error {
	signature, signed := ctx.Value(signatureKey{}).(job.Signature)
	j := st.Job
	if !signed || j == nil || j.State.Terminal() && j.State != job.Received || signature.Matches(j.Signature) {
		return nil
	}
	return WrongSignature()
}

// WrongSignature returns the error for a callback without the signature of the job's turn.
func WrongSignature() error {
	return job.Errorf(job.Forbidden, "Invalid signature").
		WithHint("Send the HMAC_SIGNATURE of your callback configuration as hmac, unchanged. If you did, another turn of this job has begun and yours is over: stop now, and submit nothing more.")
}
