package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/store/redisd"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// unreachable makes a store unavailable: before a call reaches it, or after, so that only the answer is lost.
type unreachable struct {
	is, afterwards atomic.Bool
}

func (u *unreachable) call(do func() error, cmds ...redis.Cmder) error {
	if !u.is.Load() {
		return do()
	}
	if u.afterwards.Load() {
		_ = do()
	}
	err := errors.New("connection refused")
	for _, cmd := range cmds {
		cmd.SetErr(err)
	}
	return err
}

func (*unreachable) DialHook(next redis.DialHook) redis.DialHook { return next }

func (u *unreachable) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return u.call(func() error { return next(ctx, cmd) }, cmd)
	}
}

func (u *unreachable) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return u.call(func() error { return next(ctx, cmds) }, cmds...)
	}
}

// What Claude says during an outage of the store is in the chat and in the transcript once, in order, when
// the store is back: with what Claude says next, or at the end of the turn, or by the next start.
func TestWhatClaudeSaysDuringAnOutage(t *testing.T) {
	t.Parallel()
	for name, afterwards := range map[string]bool{"calls do not reach the store": false, "answers of the store are lost": true} {
		for how, then := range map[string]func(r *Runner, out *output, again *output){
			"Claude goes on":        func(_ *Runner, out *output, _ *output) { out.follow() },
			"the turn ends":         func(r *Runner, out *output, _ *output) { r.finishOutput(context.Background(), out) },
			"the server starts new": func(_ *Runner, _ *output, again *output) { again.follow() },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				embedded := must.Get(redisd.StartInProcess())(t)
				t.Cleanup(embedded.Close)
				s := storetest.New(t, embedded.Client, lifecycle.Options{UserLimit: 4})
				turn := claimed(t, s)
				r := runnerOf(t, s)
				away := &unreachable{}
				away.afterwards.Store(afterwards)
				embedded.Client.AddHook(away)
				r.opts.OutputLimit = 1 << 20
				dir := t.TempDir()
				files := process.Files{Stdout: filepath.Join(dir, "out"), Stderr: filepath.Join(dir, "err")}
				must.OK(t, os.WriteFile(files.Stderr, nil, 0o600))
				newOutput := func() *output {
					o := r.newOutput(turn.Job, files, nil)
					o.noted = true
					return o
				}
				out, again := newOutput(), newOutput()
				say := func(text string) {
					f := must.Get(os.OpenFile(files.Stdout, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))(t)
					must.Get(f.WriteString(`{"type":"assistant","message":{"id":"` + text + `","role":"assistant","content":[{"type":"text","text":"` + text + `"}]}}` + "\n"))(t)
					must.OK(t, f.Close())
				}
				say("one")
				out.follow()
				away.is.Store(true)
				for _, text := range []string{"two", "three"} {
					say(text)
					out.follow()
				}
				away.is.Store(false)
				say("four")
				then(r, out, again)
				messages, _, err := s.Messages(t.Context(), turn.Job.UserID, turn.Job.SessionID, 0, 100)
				must.OK(t, err)
				var said []string
				for _, m := range messages {
					if m.Sender == job.FromAssistant {
						said = append(said, m.Content)
					}
				}
				must.Equal(t, []string{"one", "two", "three", "four"}, said, "the chat")
				transcript := must.Get(s.Transcript(t.Context(), turn.Job))(t)
				must.Equal(t, 4, strings.Count(string(transcript), `"assistant","message"`), "lines of the transcript", string(transcript))
			})
		}
	}
}
