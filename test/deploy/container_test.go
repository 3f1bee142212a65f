package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
)

const backEnd = "the-key-of-the-back-end-0f1e2d3c"

// All that deploy/ has is run with Podman: the image by itself, compose.yaml, the pod of kubernetes.yaml, and the
// unit on a machine with systemd. make test-deploy runs it.
func TestWithPodman(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	for name, check := range map[string]func(*testing.T, engine){
		"the image": checkImage, "the Claude CLI": checkCLI, "compose": checkCompose, "kubernetes": checkPod, "the unit": checkUnit,
	} {
		t.Run(name, func(t *testing.T) { check(t, e) })
	}
}

// options returns the options of a node in compose.yaml, as Podman takes them.
func options(t *testing.T) (all []string) {
	t.Helper()
	node := find(documentsOf(t, "compose.yaml")[0], "services", "node1")[0].(object)
	for option, key := range map[string]string{"--security-opt": "security_opt", "--cap-drop": "cap_drop"} {
		for _, value := range node[key].([]any) {
			all = append(all, option, strings.Replace(value.(string), "./", "deploy/", 1))
		}
	}
	return append(all, "--network", "none")
}

// A container with the options of compose.yaml runs jobs in the sandbox. Killed and started again with its volume,
// it goes on with its job. With fewer options, or without a key, it does not start.
func checkImage(t *testing.T, e engine) {
	started := append([]string{"run", "--rm"}, options(t)...)
	for says, args := range map[string][]string{
		"neither API_KEYS, API_KEYS_FILE nor JWT_SECRET is set": append(started, "localhost/ringback"),
		"SANDBOX=require: bwrap does not work here":             {"run", "--rm", "--network", "none", "--env", "API_KEYS=" + backEnd, "--env", "CLAUDE_BIN=simulate", "localhost/ringback"},
	} {
		said, err := e.try(t, "podman", args...)
		must.Equal(t, true, err != nil, "a server that must not run has started", args)
		must.Contain(t, said, says)
	}
	must.Contain(t, e.run(t, "podman", append(started, "--entrypoint", "claude", "localhost/ringback")...), "claude-code@", "the CLI of the image")

	e.run(t, "podman", append([]string{"run", "--detach", "--name", "one", "--volume", "one:/var/lib/ringback/data", "--env", "API_KEYS=" + backEnd, "--env", "CLAUDE_BIN=simulate", "--env", "RINGBACK_SIMULATE_PACE=2s"},
		append(options(t), "localhost/ringback")...)...)
	e.awaitStart(t, "one")
	must.Contain(t, e.logs(t, "one"), `"sandbox":"bubblewrap`)
	status, _ := e.in(t, "one", "cat", "/proc/1/status")
	for _, want := range []string{`Uid:\s+10001`, `CapBnd:\s+0{16}`, `NoNewPrivs:\s+1`, `Seccomp:\s+2`} {
		must.Equal(t, true, regexp.MustCompile(want).MatchString(status), want, status)
	}
	said, err := e.in(t, "one", "unshare", "--user", "--map-root-user", "chroot", "/", "true")
	must.Equal(t, true, err != nil && strings.Contains(said, "Operation not permitted"), "a call that the filter refuses", said)

	id := e.create(t, "one", backEnd)
	e.run(t, "podman", "kill", "--signal", "KILL", "one")
	must.Eventually(t, "the container to be started again", func() bool { _, err := e.try(t, "podman", "start", "one"); return err == nil })
	e.awaitStart(t, "one")
	e.await(t, "one", backEnd, id, "received")
	e.run(t, "podman", "stop", "--time", "20", "one")
	must.Contain(t, e.logs(t, "one"), `"msg":"stopping"`)
}

// The real CLI does a job in the container, in place of the image's stand-in, on a scripted model.
func checkCLI(t *testing.T, e engine) {
	cli := must.Get(filepath.EvalSymlinks(messagesapi.FindCLI(t)))(t)
	api, addr := messagesapi.Start(t, rig.Submit), "127.0.0.1:"+harness.FreePort(t)
	args := append([]string{"run", "--detach", "--name", "real", "--volume", cli + ":/usr/local/bin/claude:ro"}, options(t)...)
	args[slices.Index(args, "none")] = "host" // where the model is
	for _, entry := range []string{"ANTHROPIC_BASE_URL=" + api.URL, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_MAX_RETRIES=1", "API_KEYS=" + backEnd, "LISTEN_ADDR=" + addr, "OPERATOR_LISTEN_ADDR="} {
		args = append(args, "--env", entry)
	}
	e.run(t, "podman", append(args, "localhost/ringback")...)
	must.Eventually(t, "the server to listen", func() bool { _, err := e.in(t, "real", "curl", "-fsS", "http://"+addr+"/healthz"); return err == nil })
	said, err := e.in(t, "real", "env", "RINGBACK_URL=http://"+addr, "RINGBACK_TOKEN="+backEnd, "ringback", "run", "meal-suggestions", "--user", "u1", "--field", "dateRangeStart=2026-03-02", "--field", "dateRangeEnd=2026-03-03")
	if err != nil || !strings.Contains(said, "received after") || len(api.Requests()) == 0 {
		t.Errorf("it printed %s, %v\n%s", said, err, e.logs(t, "real"))
	}
}

// The commands of the document lead to a job that is run by two nodes, through TLS. When the node that runs a job is
// killed, the other one takes over.
func checkCompose(t *testing.T, e engine) {
	for _, b := range howTo(t).Blocks {
		if b.Language == "sh" && strings.Contains(b.Text, "deploy/secrets") || strings.Contains(b.Text, "deploy/.env") {
			e.run(t, "bash", "-c", "set -e; umask 022\n"+b.Text)
		}
	}
	settings := must.Get(os.OpenFile(e.dir+"/clone/deploy/.env", os.O_APPEND|os.O_WRONLY, 0))(t)
	_, err := settings.WriteString("IMAGE=localhost/ringback\nREDIS_IMAGE=localhost/redis\nCADDY_IMAGE=localhost/caddy\nHTTP_PORT=127.0.0.1:28080\nHTTPS_PORT=127.0.0.1:28443\n")
	must.OK(t, err)
	must.OK(t, settings.Close())
	must.OK(t, os.WriteFile(e.dir+"/clone/deploy/secrets/API_KEYS", []byte(backEnd+"\n"), 0o644)) // the document shows its key only once
	e.write(t, "clone/test.yaml", `services:
  node1: &node
    ulimits: {nofile: 1024, nproc: 1000}
    volumes: ["./secrets/API_KEYS:/run/secrets/API_KEYS:ro"]
    environment: {RINGBACK_SIMULATE_PACE: 3s, NODE_TIMEOUT: 5s}
  node2: *node
`)
	must.OK(t, os.Rename(e.dir+"/clone/test.yaml", e.dir+"/clone/deploy/test.yaml"))
	e.run(t, "sh", "-c", "cd deploy && podman-compose -f compose.yaml -f test.yaml up --detach --no-build")
	nodes := []string{"deploy_node1_1", "deploy_node2_1"}
	for _, node := range nodes {
		e.awaitStart(t, node)
		must.Contain(t, e.logs(t, node), `"store":"Redis at redis:6379/0"`)
	}
	must.Eventually(t, "the certificate", func() bool {
		_, err := e.try(t, "podman", "cp", "deploy_proxy_1:/data/caddy/pki/authorities/local/root.crt", "root.crt")
		return err == nil
	})
	must.Eventually(t, "the proxy to find the nodes", func() bool {
		_, err := e.try(t, "curl", "-fsS", "--cacert", "root.crt", "https://localhost:28443/readyz")
		return err == nil
	})
	said := e.run(t, "env", "SSL_CERT_FILE=root.crt", "RINGBACK_URL=https://localhost:28443", "RINGBACK_TOKEN="+backEnd,
		"bin/ringback", "run", "meal-suggestions", "--user", "u1", "--field", "dateRangeStart=2026-03-02", "--field", "dateRangeEnd=2026-03-03")
	must.Contain(t, said, "received after")

	id := e.create(t, nodes[0], backEnd)
	at := slices.IndexFunc(nodes, func(node string) bool {
		out, _ := e.in(t, node, "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
		return strings.Contains(out, "ringback simulate")
	})
	if at < 0 {
		t.Fatalf("neither node runs the job %s", id)
	}
	e.run(t, "podman", "kill", "--signal", "KILL", nodes[at])
	e.await(t, nodes[1-at], backEnd, id, "received")
}

// The pod of kubernetes.yaml starts in a user namespace. This Podman reads neither procMount nor a filter of the pod,
// so that it may make no sandbox, and ends with the reason. With both, it runs.
func checkPod(t *testing.T, e engine) {
	set := documentsOf(t, "kubernetes.yaml")[1]
	pod := find(set, "spec", "template", "spec")[0].(object)
	container := find(pod, "containers", "*")[0].(object)
	container["image"] = "localhost/ringback"
	container["env"] = append(container["env"].([]any), object{"name": "CLAUDE_BIN", "value": "simulate"})
	must.OK(t, os.MkdirAll(e.dir+"/pod", 0o755))
	must.OK(t, os.WriteFile(e.dir+"/pod/API_KEYS", []byte(backEnd), 0o644))
	claims := find(set, "spec", "volumeClaimTemplates", "*", "spec")
	pod["volumes"] = []any{
		object{"name": "secrets", "hostPath": object{"path": e.dir + "/pod", "type": "Directory"}}, object{"name": "data", "persistentVolumeClaim": object{"claimName": "data"}},
	}
	var text strings.Builder
	for _, one := range []object{
		{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": object{"name": "data"}, "spec": claims[0]},
		{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "pod", "labels": object{"app": "ringback"}}, "spec": pod},
	} {
		text.WriteString("---\n" + string(must.Get(yaml.Marshal(one))(t)))
	}
	e.write(t, "pod.yaml", text.String())
	must.OK(t, os.Link(filepath.Join(e.dir, "clone/deploy/seccomp.json"), filepath.Join(e.dir, "ringback.json")))
	e.run(t, "podman", "kube", "play", "--seccomp-profile-root", e.dir, e.dir+"/pod.yaml")
	must.Eventually(t, "the pod to end", func() bool {
		return strings.Contains(e.logs(t, "pod-ringback"), "SANDBOX=require: bwrap does not work here")
	})

	args := slices.Concat([]string{"run", "--rm", "--userns", "auto:size=65536", "--env", "API_KEYS=" + backEnd, "--env", "CLAUDE_BIN=simulate"}, options(t), []string{"localhost/ringback", "check"})
	must.Contain(t, e.run(t, "podman", args...), "ok       sandbox: bubblewrap")
}

// On a machine with systemd, the server takes its secrets from the credential store. Its turns outlive a restart, and
// it is restarted if it is stuck.
func checkUnit(t *testing.T, e engine) {
	e.run(t, "podman", "run", "--detach", "--name", "machine", "--systemd", "always", "--privileged", "--network", "none", "localhost/machine")
	sh := func(script string) string {
		said, _ := e.in(t, "machine", "sh", "-c", script)
		return said
	}
	must.Eventually(t, "systemd", func() bool {
		return strings.Contains(sh("systemctl is-system-running"), "running") || strings.Contains(sh("systemctl is-system-running"), "degraded")
	})
	said := sh(`set -e
mount --make-rshared /    # as systemd does it outside of containers
mkdir -p -m 700 /etc/credstore /etc/systemd/system/ringback.service.d
echo ` + backEnd + ` > /etc/credstore/ringback.API_KEYS
printf '[Service]\nEnvironment=CLAUDE_BIN=simulate RINGBACK_SIMULATE_PACE=2s\nWatchdogSec=5\nLimitNOFILE=1024\n' > /etc/systemd/system/ringback.service.d/test.conf
systemctl daemon-reload
systemctl start ringback && echo started`)
	must.Contain(t, said, "started")
	journal := func() string { return sh("journalctl --unit ringback --no-pager") }
	must.Contain(t, journal(), `"sandbox":"bubblewrap`)
	id := e.create(t, "machine", backEnd)
	must.Contain(t, sh("systemctl restart ringback && echo restarted"), "restarted")
	e.await(t, "machine", backEnd, id, "received")
	must.Contain(t, journal(), `"msg":"turn adopted"`)
	sh("kill -STOP $(systemctl show ringback --property MainPID --value)")
	must.Eventually(t, "the watchdog", func() bool { return strings.Contains(journal(), "Failed with result 'watchdog'") })
	must.Eventually(t, "the restart", func() bool { return sh("systemctl is-active ringback") == "active" })
}
