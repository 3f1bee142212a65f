package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
)

// Errors returns how many calls of this node failed because the store was unavailable.
func (s *Store) Errors() int64 { return s.errors.Load() }

// errorHook is a hook of the Redis client. It turns the error of each call into one for callers,
// see storeError, and counts the calls that failed because the store was unavailable.
type errorHook struct{ unavailable *atomic.Int64 }

func (h errorHook) count(err error) {
	if job.HasKind(err, job.Unavailable) {
		h.unavailable.Add(1)
	}
}

// DialHook implements redis.Hook. It counts nothing: the call that needs the connection fails, too.
func (errorHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (h errorHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		noteWrite(ctx, err, cmd)
		if err == nil || ctx.Value(insideCall{}) != nil { // the client itself handles errors while it connects
			return err
		}
		err = storeError(ctx, err)
		cmd.SetErr(err)
		h.count(err)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook. A missing value is no error of the pipeline.
func (h errorHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		err := next(ctx, commands)
		noteWrite(ctx, err, commands...)
		if err == nil || ctx.Value(insideCall{}) != nil {
			return err
		}
		err = ignoreNil(err)
		for _, cmd := range commands {
			if failed := ignoreNil(cmd.Err()); failed != nil {
				cmd.SetErr(storeError(ctx, failed))
				err = cmp.Or(err, failed)
			}
		}
		err = storeError(ctx, err)
		h.count(err)
		return err
	}
}

// writes is the key of a request's context that records whether the store may have been changed.
type writes struct{}

// tracked is that context. It is allocated for each request, at once with the record.
type tracked struct {
	context.Context //nolint:containedctx // it is a context
	wrote           atomic.Bool
}

// Value implements context.Context.
func (t *tracked) Value(key any) any {
	if _, ok := key.(writes); ok {
		return &t.wrote
	}
	return t.Context.Value(key)
}

// TrackWrites returns the context of a request. If the store becomes unavailable, the error states
// that nothing was changed if that is certain, and otherwise what is safe to send again.
func TrackWrites(ctx context.Context) context.Context {
	return &tracked{Context: ctx}
}

// noteWrite records that a call may have changed the store. A lost connection proves nothing: the
// client may have sent the call before, and Redis may have carried it out.
func noteWrite(ctx context.Context, err error, commands ...redis.Cmder) {
	tracked, ok := ctx.Value(writes{}).(*atomic.Bool)
	if !ok || ctx.Value(insideCall{}) != nil || errors.Is(err, errHangs) {
		return
	}
	if slices.ContainsFunc(commands, func(cmd redis.Cmder) bool { return mayWrite(cmd) && !refused(cmd.Err()) }) {
		tracked.Store(true)
	}
}

// mayWrite reports whether a command is none of those that only read.
func mayWrite(cmd redis.Cmder) bool {
	switch cmd.Name() {
	case "exists", "get", "getrange", "hget", "hgetall", "hmget", "hscan", "hvals", "llen", "lrange", "mget", "ping", "scan",
		"scard", "sismember", "smembers", "sscan", "time", "xinfo", "xpending", "xrange", "zcard", "zrange", "zrangebylex",
		"zrangebyscore", "zrank", "zrevrange", "zrevrangebyscore", "zscan", "zscore", "multi", "exec":
		return false
	}
	return true
}

// The hints for a request that an unavailable store has interrupted.
const (
	nothingChanged = "Nothing was changed. Send the same request again in a few seconds."
	sendAgain      = "Safe to send again: a callback, a decision that names its question, a new job with its Idempotency-Key. " +
		"Before anything else, look at the job: it may have been done."
	maybeChanged = "It is not known whether this was done. " + sendAgain
)

func isNil(err error) bool { return errors.Is(err, redis.Nil) }

func ignoreNil(err error) error {
	if isNil(err) {
		return nil
	}
	return err
}

// storeError distinguishes an unavailable store, for which retrying helps, from a bug in our code.
func storeError(ctx context.Context, err error) error {
	if _, known := errors.AsType[*job.Error](err); known || err == nil || isNil(err) || errors.Is(err, context.Canceled) {
		return err
	}
	unavailable := &job.Error{
		Kind: job.Unavailable, Message: "The store is not reachable", Cause: err,
		Hint: maybeChanged,
	}
	if tracked, ok := ctx.Value(writes{}).(*atomic.Bool); ok && !tracked.Load() {
		unavailable.Hint = nothingChanged
	}
	_, answered := errors.AsType[redis.Error](err)
	switch {
	case errors.Is(err, errHangs):
		unavailable.Message, unavailable.Cause = "The store does not answer", nil // the breaker has logged it once
	case answered && !temporary(err) && !refused(err):
		return &job.Error{Kind: job.Internal, Message: "The store refused a command", Cause: err}
	case answered:
		unavailable.Message = "The store cannot be used now"
	}
	return unavailable
}

// temporary reports whether Redis cannot execute commands for now. After a restart or a failover, the
// client may have sent the call before: then it is not known whether it was carried out. EXECABORT
// means that a command of a transaction got one of these errors, or one of refused.
func temporary(err error) bool {
	switch errorCode(err) {
	case "LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "MOVED", "ASK", "EXECABORT":
		return true
	}
	return false
}

// refused reports whether Redis has refused to execute a command, until its operator fixes something.
func refused(err error) bool {
	switch errorCode(err) {
	case "BUSY", "OOM", "NOREPLICAS", "MISCONF", "NOPERM", "NOAUTH", "WRONGPASS":
		return true
	}
	return false
}

// codeInScript matches the error code in what Redis before 7 returns for a command in a script.
var codeInScript = lazy.Regexp(`^ERR Error running script .*: -([A-Z]+) `)

// errorCode returns the error code of a reply from Redis; "" for an error that is not a reply from
// Redis.
func errorCode(err error) string {
	answered, ok := errors.AsType[redis.Error](err)
	if !ok {
		return ""
	}
	if found := codeInScript().FindStringSubmatch(answered.Error()); found != nil {
		return found[1]
	}
	code, _, _ := strings.Cut(answered.Error(), " ")
	return code
}
