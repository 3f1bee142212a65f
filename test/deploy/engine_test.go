package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
)

// base is the Debian that scripts/install-deploy-tools.sh makes.
const base = "../../.tools/debian.tar"

// engine is a Podman with a storage of its own.
type engine struct {
	dir string
	env []string
}

// onlyAsAWhole skips a test in a sample of the tests, and unless make test-deploy has installed the tools.
func onlyAsAWhole(t *testing.T) {
	t.Helper()
	if os.Getenv("TEST_SAMPLE") != "" {
		t.Skip("it is not among the samples: make test-deploy runs it")
	}
	if _, err := os.Stat(base); err != nil || os.Getuid() != 0 {
		t.Skip("make test-deploy, as root, installs what it needs")
	}
}

// startEngine returns an engine. All that it runs ends with the test.
func startEngine(t *testing.T) engine {
	t.Helper()
	onlyAsAWhole(t)
	dir := must.Get(os.MkdirTemp("/var/tmp", "deploy"))(t) //nolint:usetesting // memory would be too small, and the path too long
	e := engine{dir: dir, env: append(os.Environ(), "CONTAINERS_CONF="+dir+"/containers.conf", "CONTAINERS_STORAGE_CONF="+dir+"/storage.conf")}
	limits := strings.TrimSpace(e.output(t, "", "sh", "-c", "echo nofile=$(ulimit -Hn):$(ulimit -Hn)"))
	e.write(t, "containers.conf", "[engine]\ncgroup_manager=\"cgroupfs\"\nruntime=\"runc\"\n[containers]\ndefault_ulimits=[\""+limits+"\",\"nproc=1000:1000\"]\n")
	e.write(t, "storage.conf", "[storage]\ndriver=\"overlay\"\ngraphroot=\""+dir+"/root\"\nrunroot=\""+dir+"/run\"\n[storage.options]\nauto-userns-min-size=65536\nroot-auto-userns-user=\"containers\"\n")
	t.Cleanup(func() {
		_, _ = e.try(t, "podman", "pod", "rm", "--all", "--force")
		_, _ = e.try(t, "podman", "rm", "--all", "--force")
		_, _ = e.try(t, "podman", "network", "prune", "--force")
		_ = exec.Command("umount", "-l", dir+"/root/overlay").Run()
		_ = os.RemoveAll(dir)
	})
	e.images(t)
	return e
}

// images builds the image of deploy/ from a Debian in which apt-get finds all installed and npm has a stand-in for
// the CLI, and images in place of those of Redis, Caddy and a machine with systemd.
func (e engine) images(t *testing.T) {
	t.Helper()
	must.OK(t, os.CopyFS(filepath.Join(e.dir, "clone/deploy"), os.DirFS("../../deploy")))
	_ = os.RemoveAll(filepath.Join(e.dir, "clone/deploy/secrets"))
	must.OK(t, os.Mkdir(filepath.Join(e.dir, "clone/bin"), 0o755))
	for from, to := range map[string]string{harness.Binary(): "clone/bin/ringback", must.Get(exec.LookPath("caddy"))(t): "clone/caddy"} {
		harness.WriteProgram(t, filepath.Join(e.dir, to), must.Get(os.ReadFile(from))(t))
	}
	e.write(t, "clone/apt-get", "#!/bin/sh\n")
	e.write(t, "clone/npm", "#!/bin/sh\n[ $1 = prefix ] && echo /usr/local && exit\necho '#!/bin/sh' > /usr/local/bin/claude && echo echo $4 >> /usr/local/bin/claude\n")
	e.run(t, "podman", "import", must.Get(filepath.Abs(base))(t), "localhost/bare")
	for _, image := range []struct{ name, text string }{
		{"debian", "FROM localhost/bare\nCOPY --chmod=755 apt-get /usr/local/sbin/"},
		{"node", "FROM localhost/bare\nCOPY --chmod=755 npm /usr/local/bin/"},
		{"redis", "FROM localhost/bare\nRUN mkdir /data && chown 999:999 /data"},
		{"caddy", "FROM localhost/bare\nCOPY caddy /usr/bin/\nENV HOME=/data XDG_DATA_HOME=/data\nCMD [\"caddy\", \"run\", \"--config\", \"/etc/caddy/Caddyfile\", \"--adapter\", \"caddyfile\"]"},
		{"machine", "FROM localhost/bare\nCOPY bin/ringback /usr/bin/\nCOPY deploy/ringback.service /lib/systemd/system/\nRUN useradd --system --home-dir /var/lib/ringback ringback && systemctl disable redis-server\nCMD [\"/sbin/init\"]"},
	} {
		e.write(t, "clone/Containerfile", image.text+"\n")
		e.run(t, "buildah", "bud", "--isolation", "chroot", "--tag", "localhost/"+image.name, "--file", e.dir+"/clone/Containerfile", e.dir+"/clone")
	}
	e.run(t, "buildah", "bud", "--isolation", "chroot", "--tag", "localhost/ringback", "--build-arg", "BASE=localhost/debian", "--build-arg", "NPM=localhost/node",
		"--file", e.dir+"/clone/deploy/Dockerfile", e.dir+"/clone")
}

func (e engine) write(t *testing.T, name, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600))
}

// try runs a program to its end.
func (e engine) try(t *testing.T, program string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = e.env, e.dir+"/clone", 10*time.Second
	if _, err := os.Stat(cmd.Dir); err != nil {
		cmd.Dir = e.dir
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// run runs a program that must succeed.
func (e engine) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := e.try(t, program, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

// output runs a program with an input, and returns its standard output.
func (e engine) output(t *testing.T, input, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stdin = e.env, strings.NewReader(input)
	out, err := cmd.Output()
	must.OK(t, err, program, args)
	return string(out)
}

// in runs a command in a container.
func (e engine) in(t *testing.T, container string, command ...string) (string, error) {
	t.Helper()
	return e.try(t, "podman", append([]string{"exec", container}, command...)...)
}

// call calls the API in a container.
func (e engine) call(t *testing.T, container, key, method, path, body string) string {
	t.Helper()
	said, _ := e.in(t, container, "curl", "-sS", "-X", method, "http://127.0.0.1:3001"+path, "-H", "Authorization: Bearer "+key, "-H", "Content-Type: application/json", "--data", body)
	return said
}

// logs returns the log of a container.
func (e engine) logs(t *testing.T, container string) string {
	t.Helper()
	said, _ := e.try(t, "podman", "logs", container)
	return said
}

// awaitStart waits until the server in a container listens.
func (e engine) awaitStart(t *testing.T, container string) {
	t.Helper()
	must.Eventually(t, "the server in "+container+" to listen", func() bool {
		_, err := e.in(t, container, "curl", "-fsS", "http://127.0.0.1:3001/healthz")
		return err == nil
	})
}

// create creates a job, and waits until it runs.
func (e engine) create(t *testing.T, container, key string) (id string) {
	t.Helper()
	said := e.call(t, container, key, "POST", "/api/jobs", `{"kind": "meal-suggestions", "userId": "u1", "input": {"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-03"}}`)
	_, rest, found := strings.Cut(said, `"requestId":"`)
	if !found {
		t.Fatalf("the job was answered %s", said)
	}
	id, _, _ = strings.Cut(rest, `"`)
	e.await(t, container, key, id, "running")
	return id
}

// await waits for a status of a job.
func (e engine) await(t *testing.T, container, key, id, status string) {
	t.Helper()
	must.Eventually(t, fmt.Sprintf("%s to be %s in %s", id, status, container), func() bool {
		return strings.Contains(e.call(t, container, key, "GET", "/api/jobs/"+id, ""), `"status":"`+status+`"`)
	})
}
