package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/must"
)

// schemas are the modules with the published schema of compose files and the types of the API of Kubernetes.
var schemas = []string{"github.com/compose-spec/compose-go/v2@v2.9.0", "k8s.io/api@v0.36.2", "sigs.k8s.io/yaml@v1.6.0"}

// The program of testdata/schemas is in a module of its own, so that this one does not depend on Kubernetes.
func TestTheFilesMatchPublishedSchemas(t *testing.T) {
	t.Parallel()
	onlyAsAWhole(t)
	dir := t.TempDir()
	must.OK(t, os.CopyFS(dir, os.DirFS("testdata/schemas")))
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath -mod=mod")
		out, err := cmd.CombinedOutput()
		must.OK(t, err, args, string(out))
		return string(out)
	}
	run("mod", "init", "schemas")
	run(append([]string{"get"}, schemas...)...)
	run("build", "-o", "check", ".")
	check := func(compose, kubernetes string) string {
		for name, text := range map[string]string{"compose.yaml": compose, "kubernetes.yaml": kubernetes} {
			must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		cmd := exec.Command(filepath.Join(dir, "check"), "compose.yaml", "kubernetes.yaml")
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	compose, kubernetes := shipped(t, "compose.yaml"), shipped(t, "kubernetes.yaml")
	must.Equal(t, "", check(compose, kubernetes))
	must.Contain(t, check(strings.Replace(compose, "pids_limit", "pid_limit", 1), kubernetes), "pid_limit")
	must.Contain(t, check(compose, strings.ReplaceAll(kubernetes, "procMount:", "procMounts:")), "procMounts")
}

// AppArmor's parser accepts the profile. Older ones do not know user namespaces, as its first lines describe.
func TestTheProfileIsOneForAppArmor(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("apparmor_parser"); err != nil {
		t.Skip("make test-deploy installs AppArmor")
	}
	profile := shipped(t, "apparmor")
	if version, _ := exec.Command("apparmor_parser", "--version").Output(); strings.Contains(string(version), "version 3.") {
		profile = strings.Replace(profile, "  userns,\n", "", 1)
	}
	file := filepath.Join(t.TempDir(), "profile")
	must.OK(t, os.WriteFile(file, []byte(profile), 0o600))
	out, err := exec.Command("apparmor_parser", "--skip-kernel-load", "--skip-cache", file).CombinedOutput()
	must.OK(t, err, string(out))
}
