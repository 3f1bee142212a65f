package attack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// The input that a person changes when approving a call is checked like the call was: a
// rule that denies it is the operator's, however the input is spelled.
func TestAChangedInputIsDeniedAsAnyOther(t *testing.T) {
	t.Parallel()
	r := startRuled(t, harness.Ordinary(), "  ask: [Bash, Read]\n  deny: ['Bash(rm *)', 'Read(**/.env)', 'Read(//etc/**)']\n")
	must.OK(t, os.Symlink("/etc/passwd", filepath.Join(r.dir, "innocent")))
	if decision, _ := r.calls(t, "Bash", harness.Object{"command": "make"}); decision != "defer" {
		t.Fatalf("it was answered %q", decision)
	}
	allow := func(status int, input harness.Object) harness.Object {
		open := r.Want(t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints?status=open&userId=u1"})["checkpoints"].([]any)[0].(harness.Object)
		return r.Want(t, status, harness.Request{Method: "POST", Path: "/api/checkpoints/" + open["id"].(string) + "/reply", Body: harness.Object{"decision": "approve", "values": input}})
	}
	for _, command := range []string{
		"rm x", "/bin/rm x", "./rm x", "r\\m x", "'rm' x", "$'\\x72\\x6d' x", "\"r\"m x", "make; rm x", "make && (rm x)", "x=$(rm x)", "for f in a; do rm $f; done", "f() { rm x; }; f", "RM x", "export A=$(rm x)",
	} {
		if said := allow(400, harness.Object{"command": command}); !strings.Contains(harness.Text(t, r.URL+"/api/jobs/"+r.id), `"awaiting_approval"`) {
			t.Errorf("%q is answered %v", command, said)
		}
	}
	allow(200, harness.Object{"command": "make -j2"})

	// Where a link leads is known only at the time of the call.
	r.another(t)
	if decision, _ := r.calls(t, "Read", harness.Object{"file_path": "a"}); decision != "defer" {
		t.Fatalf("it was answered %q", decision)
	}
	allow(200, harness.Object{"file_path": "innocent"})
	harness.Eventually(t, "the job to run", func() bool {
		return r.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + r.id})["status"] == "running"
	})
	r.hmac, _ = r.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + r.id + "/callback"})["hmac"].(string)
	if decision, reason := r.calls(t, "Read", harness.Object{"file_path": "a"}); decision != "deny" || !strings.Contains(reason, "//etc/**") {
		t.Errorf("it was answered %q %s", decision, reason)
	}
	audit := harness.Text(t, r.URL+"/api/jobs/"+r.id+"/audit")
	if !strings.Contains(audit, `"refused"`) || !strings.Contains(audit, "innocent") || strings.Contains(audit, `"started"`) {
		t.Errorf("the audit log says %s", audit)
	}
}
