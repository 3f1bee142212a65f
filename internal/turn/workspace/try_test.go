package workspace_test

import (
	"context"
	"os"
	"testing"

	"ringback/internal/sandbox/process"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

func TestGitIsTried(t *testing.T) {
	t.Parallel()
	confined, err := process.FindSandbox(t.Context(), process.SandboxOptions{Home: "/root", Path: os.Getenv("PATH")})
	if err != nil {
		t.Log("without a sandbox:", err)
	}
	for name, sandbox := range map[string]process.Sandbox{"without a sandbox": {}, "in a sandbox": confined} {
		root := workspace.Root{Dir: t.TempDir(), Environ: os.Environ(), Sandbox: sandbox}
		must.OK(t, root.Try(t.Context()), name)
		ended, end := context.WithCancel(t.Context())
		end()
		must.Fail(t, root.Try(ended), "canceled", name, "and it does not end in time")
	}
}
