package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/turn/claude"
	"ringback/internal/turn/claude/simulated"
	"ringback/internal/turn/review"
	"ringback/internal/turn/workspace"
)

func (r *Runner) command(ctx context.Context, st *lifecycle.Turn, change *review.Change) (process.Detached, error) {
	k, err := r.kindOf(st.Job)
	if err != nil {
		return process.Detached{}, err
	}
	if r.opts.Structured { // the job may predate this setting
		if err := k.CheckStructured(); err != nil {
			return process.Detached{}, err
		}
	}
	if err := r.bringConversation(ctx, st); err != nil {
		return process.Detached{}, err
	}
	p, err := r.promptData(ctx, k, st, change)
	if err != nil {
		return process.Detached{}, err
	}
	prompt, err := r.prompt(ctx, p, st)
	if err != nil {
		return process.Detached{}, err
	}
	return r.program(ctx, p, st, change, prompt)
}

// program returns the process that reads a prompt with the contents p.
func (r *Runner) program(
	ctx context.Context, p claude.Prompt, st *lifecycle.Turn, change *review.Change, prompt string,
) (process.Detached, error) {
	k := p.Kind
	d := process.Detached{
		Dir: r.nodeDir.workDir(st.Job.ID), Env: claude.Environ(r.opts.Environ, r.opts.Hold), Stdin: prompt,
		Marker: r.nodeDir.marker(st.Job.ID, st.Job.Turn), Files: r.nodeDir.turnFiles(st.Job.ID, st.Job.Turn),
		Limits: turnLimits(k),
	}
	if change != nil {
		d.Dir = change.Dir()
	}
	if st.Job.Simulated {
		if err := r.simulate(&d, st, p); err != nil {
			return d, err
		}
		err := r.confine(ctx, &d, k, st, change, cliFiles{})
		return d, err
	}
	files, err := r.writeCLIFiles(k, st)
	if err != nil {
		return d, err
	}
	turn := r.opts.turn(k)
	turn.Conversation, turn.Resume, turn.CallbackBaseURL = st.Conversation, st.Begun, r.callbackBaseURL()
	turn.Settings, turn.MCPConfig = files.settings, files.mcpConfig
	args := claude.Args(turn)
	if err := checkArgs(args); err != nil {
		return d, job.Errorf(job.Invalid, "%v", err)
	}
	d.Args = append([]string{r.opts.ClaudeBin}, args...)
	err = r.confine(ctx, &d, k, st, change, files)
	return d, err
}

// turn returns what the command line of a kind's turns depends on, apart from the job.
func (o Options) turn(k *kind.Kind) claude.Turn {
	return claude.Turn{
		Kind: k, CallbackBaseURL: o.CallbackBaseURL, Hold: o.Hold, Structured: o.Structured,
		Questions: o.offersQuestions(k), Fallback: o.FallbackModel, Extra: o.ClaudeArgs,
	}
}

// Check prepares a turn of a kind without running it, and returns why no turn could start, whatever
// the input of its job.
func (o Options) Check(k *kind.Kind) error {
	if refused := o.Structured && k.CheckStructured() != nil; refused {
		return nil
	}
	if err := checkChange(k.Policy); err != nil {
		return err
	}
	example, err := k.Input.LeastExample("example")
	if err != nil { // there is none that is simple
		example = map[string]any{}
	}
	input, err := json.Marshal(example)
	if err != nil {
		return err
	}
	p := claude.Prompt{Kind: k, Input: input, Structured: o.Structured, Hold: o.Hold}
	_, first := p.First()
	_, later := p.Later(claude.Written, "")
	return errors.Join(first, later, checkArgs(claude.Args(o.turn(k))))
}

func checkChange(p kind.Policy) error {
	if p.Workspace == nil {
		return nil
	}
	if _, err := workspace.Named(p.Workspace.Repositories); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	for _, v := range p.Verifiers {
		if _, fault := process.ArgumentFault([]string{v.Command}); fault != "" {
			return fmt.Errorf("verifiers: the command of %s %s", v.Name, fault)
		}
	}
	if _, fault := process.ArgumentFault(p.Finalize); fault != "" {
		return fmt.Errorf("finalize: a command %s", fault)
	}
	return nil
}

// checkArgs returns an error if the system would refuse to start the CLI with these arguments.
func checkArgs(args []string) error {
	i, fault := process.ArgumentFault(args)
	switch {
	case fault == "":
		return nil
	case i > 0 && args[i-1] == "--json-schema":
		return fmt.Errorf("the schema of the result, as the CLI gets it with USE_CALLBACK_CLAUDE=false, %s: shorten it, or set USE_CALLBACK_CLAUDE=true", fault)
	case i > 0 && args[i-1] == "--allowedTools":
		return fmt.Errorf("allowed_tools and the commands that call the actions, which are one argument of the CLI: it %s", fault)
	case i > 0:
		return fmt.Errorf("the CLI's argument after %s %s", args[i-1], fault)
	}
	return fmt.Errorf("the CLI's command line %s", fault)
}

// simulate replaces the CLI by the simulated Claude.
func (r *Runner) simulate(d *process.Detached, st *lifecycle.Turn, p claude.Prompt) error {
	turn, err := json.Marshal(simulated.NewTurn(st.Conversation, p, d.Stdin))
	d.Args, d.Stdin = []string{r.opts.Simulator, "simulate"}, string(turn)
	if behaviour := st.Job.Options.Simulate; behaviour != job.SimulateNone {
		d.Env = append(d.Env, "RINGBACK_SIMULATE="+string(behaviour))
	}
	return err
}

// cliFiles are files that the CLI reads when it starts; a path is empty if there is none. They
// contain the signature of the turn. In a sandbox, they are texts.
type cliFiles struct {
	settings, mcpConfig string
	texts               []process.Text
}

// writeCLIFiles writes the CLI's settings, which configure its hooks, and the MCP
// configuration if the kind calls back over MCP.
func (r *Runner) writeCLIFiles(k *kind.Kind, st *lifecycle.Turn) (files cliFiles, err error) {
	text, err := r.settings(k, st)
	if err != nil {
		return files, err
	}
	if text != nil {
		if files.settings, err = r.writeCLIFile(&files, st, "settings.json", text); err != nil {
			return files, err
		}
	}
	if !k.OverMCP() || r.opts.Structured {
		return files, nil
	}
	text, err = claude.MCPConfig(r.callback(st), r.opts.Hold)
	if err != nil {
		return files, err
	}
	files.mcpConfig, err = r.writeCLIFile(&files, st, "mcp.json", text)
	return files, err
}

// settings returns the CLI's settings for a turn; nil if it needs none.
func (r *Runner) settings(k *kind.Kind, st *lifecycle.Turn) ([]byte, error) {
	judged := claude.Nothing
	switch {
	case isTrial(st.Job.ID):
		return claude.OfflineSettings()
	case !k.Policy.Tools.Empty():
		judged = claude.Everything
	case r.opts.offersQuestions(k):
		judged = claude.Questions
	}
	if judged == claude.Nothing && r.opts.Structured {
		return nil, nil
	}
	return claude.Settings(r.callback(st), r.opts.Hold, judged)
}

// offersQuestions reports whether Claude may ask the user with the CLI's own tools.
func (o Options) offersQuestions(k *kind.Kind) bool {
	return k.Policy.AsksQuestions() && !o.Structured
}

// writeCLIFile writes a file, in a sandbox in memory, and returns its path. None of the CLI's tools reads
// it on its own, because it is outside the working directory.
func (r *Runner) writeCLIFile(files *cliFiles, st *lifecycle.Turn, name string, text []byte) (file string, err error) {
	if r.opts.Sandbox.InForce() {
		file = "/run/ringback-" + name
		files.texts = append(files.texts, process.Text{Path: file, Content: string(text)})
		return file, nil
	}
	dir := r.nodeDir.jobDir(st.Job.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file = filepath.Join(dir, name)
	return file, untrusted.WriteFile(file, text)
}

func (r *Runner) callback(st *lifecycle.Turn) claude.Callback {
	return claude.Callback{RequestID: string(st.Job.ID), BaseURL: r.callbackBaseURL(), Signature: string(st.Signature)}
}

// kindOf calls lifecycle.Service.KindOf, which usually does not query the store.
func (r *Runner) kindOf(j job.Job) (*kind.Kind, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	return r.jobs.KindOf(ctx, j)
}

func (r *Runner) promptData(ctx context.Context, k *kind.Kind, st *lifecycle.Turn, change *review.Change) (claude.Prompt, error) {
	p := claude.Prompt{
		Kind: k, Input: st.Job.Input, Structured: r.opts.Structured, Hold: r.opts.Hold,
		Answers: st.Answers, KnownAnswers: st.KnownAnswers, UsedUp: st.UsedUp, PendingMessages: st.PendingMessages,
		Callback: r.callback(st),
	}
	if change == nil {
		return p, nil
	}
	p.Change, p.Lost = &change.Change, change.Lost
	err := r.steering(ctx, &p, st, change)
	return p, err
}

func (r *Runner) prompt(ctx context.Context, p claude.Prompt, st *lifecycle.Turn) (string, error) {
	if !st.Begun {
		return r.firstPrompt(ctx, p, st)
	}
	why := st.ResumeReason
	if why == nil {
		return p.Later(claude.Written, "")
	}
	if n := len(st.Answers); n > 0 && why.Reason == lifecycle.Replied {
		asked := strings.ReplaceAll(string(st.Answers[n-1].Type), "_", " ")
		r.log.Info("Resuming from "+asked, "requestId", st.Job.ID, "turn", st.Job.Turn)
	}
	return p.Later(string(why.Reason), why.Detail)
}

// steering adds to the prompt what a reviewer requests and has seen.
func (r *Runner) steering(ctx context.Context, p *claude.Prompt, st *lifecycle.Turn, change *review.Change) error {
	decision, prompt := review.Decision(st.Answers, st.Job.ID)
	if decision != job.Steer {
		return nil
	}
	s := &claude.Steering{Prompt: prompt}
	state, err := r.store.Changes.Steering(ctx, st.Job.ID, change.MaxIterations)
	if err != nil {
		return err
	}
	s.State = state
	for _, read := range []struct {
		get  func(context.Context, job.ID) (json.RawMessage, error)
		into any
	}{{r.store.Changes.Diff, &s.Diff}, {r.store.Changes.Logs, &s.Logs}} {
		text, err := read.get(ctx, st.Job.ID)
		if err == nil && text != nil {
			err = job.UnmarshalExact(text, read.into)
		}
		if err != nil {
			return err
		}
	}
	p.Steering = s
	return nil
}

// historyLength limits the messages of the earlier conversation that a new one gets.
const historyLength = 200

// firstPrompt returns the prompt that begins a conversation. If an earlier conversation
// of the session is unavailable, the prompt contains its messages.
func (r *Runner) firstPrompt(ctx context.Context, p claude.Prompt, st *lifecycle.Turn) (string, error) {
	if st.Retold || len(st.Answers) > 0 || len(st.PendingMessages) > 0 {
		_, last, err := r.store.Chats.Messages(ctx, st.Job.UserID, st.Job.SessionID, 0, 0)
		if err != nil {
			return "", err
		}
		p.History, _, err = r.store.Chats.Messages(ctx, st.Job.UserID, st.Job.SessionID, max(0, last-historyLength), historyLength)
		if err != nil {
			return "", err
		}
		p.History = slices.DeleteFunc(p.History, func(m job.Message) bool { // these are in the prompt anyway
			return slices.ContainsFunc(st.PendingMessages, func(pending job.Message) bool { return pending.ID == m.ID })
		})
	}
	return p.First()
}
