package store

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lazy"
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
		if err == nil || ctx.Value(insideCall{}) != nil { // the client itself handles errors while it connects
			return err
		}
		err = storeError(err)
		cmd.SetErr(err)
		h.count(err)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook. A missing value is no error of the pipeline.
func (h errorHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		err := next(ctx, commands)
		if err == nil || ctx.Value(insideCall{}) != nil {
			return err
		}
		err = ignoreNil(err)
		for _, cmd := range commands {
			if failed := ignoreNil(cmd.Err()); failed != nil {
				cmd.SetErr(storeError(failed))
				err = cmp.Or(err, failed)
			}
		}
		err = storeError(err)
		h.count(err)
		return err
	}
}

func isNil(err error) bool { return errors.Is(err, redis.Nil) }

func ignoreNil(err error) error {
	if isNil(err) {
		return nil
	}
	return err
}

// storeError distinguishes an unavailable store, for which retrying helps, from a bug in our code.
func storeError(err error) error {
	if _, known := errors.AsType[*job.Error](err); known || err == nil || isNil(err) || errors.Is(err, context.Canceled) {
		return err
	}
	unavailable := &job.Error{
		Kind: job.Unavailable, Message: "The store is not reachable", Cause: err,
		Hint: "Nothing was changed. Send the same request again in a few seconds.",
	}
	_, answered := errors.AsType[redis.Error](err)
	switch {
	case errors.Is(err, errHangs):
		unavailable.Message, unavailable.Cause = "The store does not answer", nil // the breaker has logged it once
	case answered && !temporary(err):
		return &job.Error{Kind: job.Internal, Message: "The store refused a command", Cause: err}
	case answered:
		unavailable.Message = "The store cannot be used now"
	}
	return unavailable
}

// temporary reports whether Redis cannot execute commands for now, or its operator must fix
// something first. Nothing was changed, and the same request can be retried. EXECABORT means that a
// command of a transaction got one of these errors.
func temporary(err error) bool {
	switch errorCode(err) {
	case "LOADING", "BUSY", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "OOM", "NOREPLICAS",
		"MISCONF", "NOPERM", "NOAUTH", "WRONGPASS", "MOVED", "ASK", "EXECABORT":
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
