package messagesapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"ringback/test/messagesapi"
	"ringback/test/must"
)

// cli runs the real CLI several times with one home directory.
type cli struct {
	bin string
	env []string
	dir string // working directory
}

func newCLI(t *testing.T, api *messagesapi.Server) *cli {
	t.Helper()
	return &cli{bin: messagesapi.FindCLI(t), env: api.Env(t), dir: t.TempDir()}
}

// command returns the command of one turn, in a process group that ends with the test.
func (c *cli) command(t *testing.T, prompt string, args ...string) *exec.Cmd {
	t.Helper()
	args = append([]string{"-p", "--output-format", "stream-json", "--verbose", "--max-turns", "10"}, args...)
	cmd := exec.CommandContext(t.Context(), c.bin, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = c.env, c.dir, strings.NewReader(prompt)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	return cmd
}

// turn is the outcome of a run of the CLI.
type turn struct {
	exit   int
	result *result // nil if the stream was aborted
	stdout string
	stderr string
}

// result is the stream's last line.
type result struct {
	Type              string
	Subtype           string
	IsError           bool            `json:"is_error"`
	Text              string          `json:"result"`
	CostUSD           float64         `json:"total_cost_usd"`
	StructuredOutput  json.RawMessage `json:"structured_output"`
	PermissionDenials []struct {
		ToolName string `json:"tool_name"`
	} `json:"permission_denials"`
	Usage struct {
		InputTokens int64 `json:"input_tokens"`
	}
	Errors []string
}

// run runs one turn to its end.
func (c *cli) run(t *testing.T, prompt string, args ...string) turn {
	t.Helper()
	return finish(t, c.command(t, prompt, args...), nil)
}

// finish runs a command to its end; while is called once it has started.
func finish(t *testing.T, cmd *exec.Cmd, while func()) turn {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	must.OK(t, cmd.Start())
	if while != nil {
		while()
	}
	err := cmd.Wait()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	end := turn{exit: cmd.ProcessState.ExitCode(), result: lastResult(&stdout), stdout: stdout.String(), stderr: stderr.String()}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the CLI exited with %d\n%s\n%s", end.exit, end.stdout, end.stderr)
		}
	})
	return end
}

func lastResult(stdout *bytes.Buffer) *result {
	lines := bufio.NewScanner(bytes.NewReader(stdout.Bytes()))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r result
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.Type == "result" {
			return &r
		}
	}
	return nil
}

// succeeded fails the test unless the turn succeeded.
func (end turn) succeeded(t *testing.T) *result {
	t.Helper()
	if end.exit != 0 || end.result == nil || end.result.IsError {
		t.Fatalf("the turn failed with exit code %d", end.exit)
	}
	return end.result
}
