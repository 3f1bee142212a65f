package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

func TestServeReadsTheDotenvFile(t *testing.T) {
	t.Parallel()
	dir := rig.DotenvDir(t, "\ufeff# of this project\nexport API_KEYS='a-key-of-the-$back-end' # both\r\nHOLD=1s\nLOG_FORMAT=nonsense\n")
	n := rig.StartIn(t, dir, vars{"LOG_FORMAT": "json", "CLAUDE_BIN": "simulate"})
	if said := n.Log.String(); !strings.Contains(said, `"envFile":"`+filepath.Join(dir, ".env")+`"`) || strings.Contains(said, "a-key-of") {
		t.Errorf("the start does not say which file was read, or shows what it holds:\n%s", said)
	}
	if status, _ := n.Do(t, "GET", "/api/jobs", nil); status != 401 {
		t.Errorf("without a key: answered %d, want 401, for .env sets one", status)
	}
	if status, answer := n.Do(t, "GET", "/api/jobs", nil, "Authorization", "Bearer a-key-of-the-$back-end"); status != 200 {
		t.Errorf("with the key of .env: answered %d: %v", status, answer)
	}
}

func TestTheExampleIsADotenvFile(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../.env.example"))(t)
	n := rig.StartIn(t, rig.DotenvDir(t, string(text)), nil)
	n.Want(t, 200, "GET", "/api/jobs", nil)
}

func TestMalformedDotenvStopsWithItsLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no equals sign":     {"HOLD=1s\nAPI_KEYS a-secret-key-1234567\nWORKERS=2\n", ".env, line 2:"},
		"a quote left open":  {"# one\n\nJWT_SECRET=\"a-secret-key-1234567\nWORKERS=2\n", ".env, line 3:"},
		"after a long value": {"A='one\ntwo\nthree'\nB-C=a-secret-key-1234567\n", ".env, line 4:"},
		"in the first line":  {"=a-secret-key-1234567", ".env, line 1:"},
		"a fault in a value": {"WORKERS=many\nAPI_KEYS=a-secret-key-1234567\n", "WORKERS is not a whole number"},
		"a value we refuse":  {"API_KEYS=short\nLOG_FORMAT=a\n", "LOG_FORMAT"},
		"a NUL byte":         {"A=1\nB=a-secret-key\x00-1234567\n", ".env, line 2:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(harness.Binary(), "serve")
			cmd.Dir, cmd.Env = rig.DotenvDir(t, c.text), []string{"PATH=" + os.Getenv("PATH"), "LISTEN_ADDR=127.0.0.1:0", "DATA_DIR=" + t.TempDir()}
			out, err := cmd.CombinedOutput()
			must.Equal(t, 2, cmd.ProcessState.ExitCode(), "ended with", err)
			if said := string(out); !strings.Contains(said, c.want) || !strings.Contains(said, filepath.Join(cmd.Dir, ".env")) || strings.Contains(said, "secret-key") {
				t.Errorf("said %q, want %q, the file's path, and nothing of what it holds", said, c.want)
			}
		})
	}
}

func TestADirectoryNamedDotenvIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(dir, ".env"), 0o700))
	must.NotContain(t, rig.StartIn(t, dir, nil).Log.String(), "  env ", "the start says that a directory was read")
}

// A job's processes see the same variables of .env as of the environment.
func TestSecretsOfDotenvDoNotReachJobs(t *testing.T) {
	t.Parallel()
	seen := filepath.Join(t.TempDir(), "seen")
	cli := rig.Script(t, `{ env; tr '\0' '\n' < /proc/$PPID/environ; } > `+seen+`.part; mv `+seen+`.part `+seen+`; sleep 100`)
	n := rig.StartIn(t, rig.DotenvDir(t, "WEBHOOK_SECRET=a-secret-of-the-webhook\nANTHROPIC_MODEL=of-the-file\nLANG=of-the-file\n"),
		vars{"CLAUDE_BIN": cli, "LANG": "of-the-environment"})
	id := n.Create(t, object{})
	var env []byte
	must.Eventually(t, "the CLI to start", func() (ok bool) {
		var err error
		env, err = os.ReadFile(seen)
		return err == nil
	})
	if text := string(env); strings.Contains(text, "a-secret-of") || !strings.Contains(text, "ANTHROPIC_MODEL=of-the-file") || !strings.Contains(text, "LANG=of-the-environment") {
		t.Errorf("the CLI saw:\n%s", text)
	}
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", object{})
}

func TestCheckTellsOfADotenvFileThatOthersRead(t *testing.T) {
	t.Parallel()
	dir := rig.DotenvDir(t, "ANTHROPIC_MODEL=opus\nDEPLOY_TOKEN=of-the-action\nNOBODYS=x\nALSO_NOBODYS=x\nHOLD=1s\n")
	must.OK(t, os.Chmod(filepath.Join(dir, ".env"), 0o644))
	prompts := rig.KindsDir(t, "own.md", "---\nactions:\n  - name: deploy\n    command: [sh]\n    env: {TOKEN: '${DEPLOY_TOKEN}'}\n---\nDo it.")
	check := func() string {
		cmd := exec.Command(harness.Binary(), "check")
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PROMPTS_DIR=" + prompts, "DATA_DIR=" + t.TempDir(), "CLAUDE_BIN=simulate"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("check: %v\n%s", err, out)
		}
		return string(out)
	}
	file := filepath.Join(dir, ".env")
	for _, want := range []string{
		"note     " + file + " can be read by every user of this machine: chmod o= it\n",
		"note     " + file + " sets what neither Ringback nor anything that it starts reads: ALSO_NOBODYS, NOBODYS\n",
	} {
		must.Contain(t, check(), want)
	}
	must.OK(t, os.Chmod(file, 0o600))
	must.NotContain(t, check(), "every user", "of a file that only its owner reads")
}
