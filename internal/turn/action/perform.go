package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/store"
	"ringback/internal/text/excerpt"
	"ringback/internal/turn/claude"
)

var errTimeout = errors.New("it took longer than its timeout")

// notBegun is the error of an action that was not run.
type notBegun struct{ error }

// interrupted is the error of an action that may have taken effect.
type interrupted struct{ error }

// callError is an error of a webhook's call that reports whether the receiver may have done what it was called for.
type callError interface {
	error
	Unsure() bool
}

// perform runs the action and returns the result for Claude.
func (s *Service) perform(ctx context.Context, r Run) (lifecycle.RunState, []byte) {
	fields, err := s.carryOut(ctx, r)
	if err == nil && saysFailed(fields) {
		err = errors.New(firstText(fields["message"], fields["error"], "it reported a failure"))
	}
	_, refused := errors.AsType[notBegun](err)
	_, unsure := errors.AsType[interrupted](err)
	switch {
	case refused:
		return lifecycle.RunRefused, answer(fields, lifecycle.RunRefused, err.Error())
	case s.ctx.Err() != nil:
		return lifecycle.RunUnknown, answer(
			fields, lifecycle.RunUnknown, "The server stopped while "+r.Action.Name+" was running"+lifecycle.NotKnown,
		)
	case err == nil:
	case errors.Is(context.Cause(ctx), errTimeout):
		return lifecycle.RunTimedOut, answer(fields, lifecycle.RunTimedOut, err.Error()+lifecycle.NotKnown)
	case unsure:
		return lifecycle.RunUnknown, answer(fields, lifecycle.RunUnknown, err.Error()+lifecycle.NotKnown)
	default:
		return lifecycle.RunFailed, answer(fields, lifecycle.RunFailed, err.Error())
	}
	return lifecycle.RunSucceeded, answer(fields, lifecycle.RunSucceeded, firstText(fields["message"], r.Action.Title+": done"))
}

// saysFailed reports whether an action's own result describes a failure.
func saysFailed(fields map[string]any) bool {
	success, stated := fields["success"]
	status, _ := fields["status"].(string)
	return stated && success != true || slices.Contains([]string{"error", "failed", "failure", "denied"}, strings.ToLower(status))
}

// answer formats a result for Claude: status, success and message, and the fields that the
// action returned.
func answer(fields map[string]any, state lifecycle.RunState, message string) []byte {
	all := withoutOurs(fields)
	status := lifecycle.RunFailed
	if state == lifecycle.RunSucceeded {
		status = state
	}
	all["status"], all["success"], all["message"] = status, state == lifecycle.RunSucceeded, message
	return job.MustJSON(all)
}

// withoutOurs returns the fields that an action returned. Those that are the server's own in an answer to
// Claude, such as what people have written, are in one called returned.
func withoutOurs(fields map[string]any) map[string]any {
	all, returned := map[string]any{}, map[string]any{}
	maps.Copy(all, fields)
	for _, name := range job.ServerFields {
		if value, found := all[name]; found {
			returned[name] = value
			delete(all, name)
		}
	}
	if len(returned) > 0 {
		all["returned"] = returned
	}
	return all
}

func firstText(candidates ...any) string {
	for _, c := range candidates {
		if text, ok := c.(string); ok && text != "" {
			return text
		}
	}
	return ""
}

func (s *Service) carryOut(ctx context.Context, r Run) (map[string]any, error) {
	err := s.mayBegin(ctx, r)
	if err == nil {
		err = s.stillAsShown(ctx, r)
	}
	if err != nil {
		return nil, notBegun{err}
	}
	if r.Action.Webhook != "" {
		return s.call(ctx, r)
	}
	return s.command(ctx, r)
}

// call posts the input to the action's webhook; the response is the result.
func (s *Service) call(ctx context.Context, r Run) (map[string]any, error) {
	body := job.MustJSON(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{"action." + r.Action.Name, time.Now().UTC(), struct {
		RequestID job.ID         `json:"requestId"`
		UserID    string         `json:"userId"`
		Kind      string         `json:"kind"`
		Action    string         `json:"action"`
		Input     map[string]any `json:"input"`
	}{RequestID: r.RequestID, UserID: r.Header.UserID, Kind: r.Kind, Action: r.Action.Name, Input: r.Input}})
	answer, err := s.opts.Call(ctx, r.Action.Webhook, string(r.ID), body)
	if err != nil {
		failure, ok := errors.AsType[callError](err)
		if ctx.Err() != nil {
			err = fmt.Errorf("its webhook did not answer: %w", context.Cause(ctx))
		}
		if ok && failure.Unsure() {
			err = interrupted{err}
		}
		return nil, err
	}
	fields, _ := resultIn(string(answer))
	return fields, nil
}

// command runs the action's program. If its last line is a JSON object, that is the result;
// other lines are shown to people as they come.
func (s *Service) command(ctx context.Context, r Run) (map[string]any, error) {
	a, reporter := r.Action, &reporter{store: s.store, run: r}
	ended, err := s.execute(ctx, r, command{
		Program: a.Program, owner: a.Name, lent: a.Writable, writes: true, line: reporter.line,
		failure: a.Name + " did not finish: ",
	})
	if err != nil {
		return nil, err
	}
	fields, found := resultIn(ended.LastLine)
	if ended.Code != 0 && !found {
		return nil, fmt.Errorf("%s ended with exit code %d: %s", a.Name, ended.Code, lastWords(ended))
	}
	if ended.Code != 0 {
		return fields, errors.New(firstText(
			fields["message"], fields["error"], ended.Limit, fmt.Sprintf("%s ended with exit code %d", a.Name, ended.Code),
		))
	}
	return fields, nil
}

// command is a command of an action: its own, or that of its preview.
type command struct {
	kind.Program
	// owner is named if a host is refused that is not in Network.
	owner string
	// lent are the paths that it can write besides the job's directory.
	lent []string
	// writes is set if it can write the job's directory.
	writes bool
	line   func(string)
	// failure begins the error if it does not finish.
	failure string
	// outputLimit is that of process.Command.
	outputLimit int
}

func (s *Service) execute(ctx context.Context, r Run, c command) (ended process.Ended, err error) {
	dir, isOwn, err := s.directory(r, c.writes)
	if err != nil {
		return ended, err
	}
	if isOwn {
		defer func() { _ = untrusted.Remove(dir) }()
		c.writes = true
	}
	args := filled(c.Command, r.Input)
	if args[0] = program(args[0], r.Dir, s.opts.Self); args[0] == "" {
		return ended, notBegun{errors.New("the directory of its kind is not on this node")}
	}
	if _, fault := process.ArgumentFault(args); fault != "" {
		return ended, errors.New("an argument " + fault)
	}
	access, err := s.access(ctx, r, args[0], dir, c)
	if err != nil {
		return ended, err
	}
	way := s.opts.Doors.OfAction(r.RequestID, c.owner, c.Network)
	access.Network = way.Network
	ended, err = process.Run(ctx, process.Command{
		Args: args, Dir: dir, Env: s.environ(r, c.Env), Stdin: job.MustJSON(r.Input),
		Marker:  process.OwnMarker(cmp.Or(string(r.ID), string(r.RequestID))), // a preview has no run yet
		Sandbox: s.opts.Sandbox, Access: access, Limits: r.Action.Limits, Line: c.line, OutputLimit: c.outputLimit,
	})
	if err != nil {
		err = fmt.Errorf("%s%w", c.failure, err)
		if errors.Is(err, errJobEnded) {
			err = interrupted{err}
		}
		return ended, err
	}
	ended.Limit = strings.TrimSpace(ended.Limit + "\n" + way.Refused())
	return ended, nil
}

// directory returns the directory that a command runs in. isOwn is true if it is the command's alone,
// because the job has none: a job that a person plays gets one for the files of its first action.
func (s *Service) directory(r Run, writes bool) (dir string, isOwn bool, err error) {
	if dir, _ = s.opts.Dir(r.Header.Node, r.RequestID); dir != "" {
		return dir, false, nil
	}
	if writes && s.opts.MakeDirFunc != nil {
		if dir, err = s.opts.MakeDirFunc(r.RequestID); dir != "" || err != nil {
			return dir, false, err
		}
	}
	dir, err = os.MkdirTemp("", "ringback-action-")
	return dir, true, err
}

// resultIn parses a JSON object from a line; numbers keep their digits.
func resultIn(line string) (map[string]any, bool) {
	var fields map[string]any
	if job.UnmarshalExact([]byte(line), &fields) != nil {
		return nil, false
	}
	return fields, fields != nil
}

// lastWords returns the end of the output of a program that failed.
func lastWords(ended process.Ended) string {
	text := cmp.Or(strings.TrimSpace(ended.Stderr), strings.TrimSpace(ended.Stdout))
	if text == "" && ended.Limit == "" {
		return "it printed nothing"
	}
	return strings.TrimSpace(excerpt.Tail(text, 500) + "\n" + ended.Limit)
}

// access returns what a sandboxed command can reach, except the network: what it is given,
// its program, the directory of its kind, and that of the job. What the kind denies is hidden.
// Its home directory is empty, so Claude cannot have left anything there.
func (s *Service) access(
	ctx context.Context, r Run, program, dir string, c command,
) (access process.Access, err error) {
	access = process.Access{Readable: slices.Clone(c.Readable), Lent: c.lent}
	if r.Dir != "" {
		access.Readable = append(access.Readable, r.Dir)
	}
	if filepath.IsAbs(program) {
		access.Readable = append(access.Readable, program)
	}
	if s.opts.Sandbox.InForce() {
		access.Masks, err = claude.MasksOfProgram(
			ctx, r.Tools, dir, s.opts.DataDir, slices.Concat(access.Lent, access.Readable)...,
		)
	}
	if c.writes {
		access.Writable = []string{dir}
	} else {
		access.Readable = append(access.Readable, dir)
	}
	return access, err
}

// program returns the path of a command's program. A relative path with a slash is relative
// to the directory of the kind, not to the server's working directory. Other names are
// looked up on PATH; ringback is this program. It is empty if the kind has no directory here: a file of
// that name in the job's directory would be Claude's.
func program(name, dir, self string) string {
	switch {
	case name == "ringback":
		return self
	case strings.Contains(name, "/") && !filepath.IsAbs(name) && dir == "":
		return ""
	case strings.Contains(name, "/") && !filepath.IsAbs(name):
		return filepath.Join(dir, name)
	}
	return name
}

// environ returns the environment of a command: what its kind sets, and from the server's
// environment only what any user program needs.
func (s *Service) environ(r Run, further map[string]string) []string {
	env := []string{
		"RINGBACK_REQUEST_ID=" + string(r.RequestID), "RINGBACK_USER_ID=" + r.Header.UserID,
		"RINGBACK_KIND=" + r.Kind, "RINGBACK_KIND_DIR=" + r.Dir, "RINGBACK_ACTION=" + r.Action.Name,
	}
	env = append(env, process.Pick(s.opts.Environ, process.Basics, process.Person, process.Certificates)...)
	for _, name := range slices.Sorted(maps.Keys(further)) {
		env = append(env, name+"="+expand(further[name], s.opts.Environ))
	}
	return env
}

// reporter shows a command's output as the job's activity.
type reporter struct {
	store *store.Store
	run   Run
	last  time.Time
	count int
}

// pace is the minimum interval between two activities.
const pace = 100 * time.Millisecond

func (t *reporter) line(text string) {
	if _, isResult := resultIn(text); isResult || time.Since(t.last) < pace {
		return
	}
	t.last = time.Now()
	t.count++
	activity := job.MustJSON(job.Activity{Message: excerpt.Head(text, 500), Type: job.Results, Progress: 50})
	digest := job.ActivityDigest(fmt.Appendf(nil, "%s %d", t.run.ID, t.count))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, _ = t.store.Calls.Progress(ctx, t.run.RequestID, t.run.Header.Unsigned(), activity, digest) // one lost line does no harm
}
