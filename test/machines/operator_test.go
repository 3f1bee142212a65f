package machines

import (
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/scan"
)

// What operators read is at an address of its own. The address of the API shows none of it.
func TestOperatorsHaveAListenerOfTheirOwn(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"CLAUDE_BIN": "no-claude-here"})
	ready := n.WantReady(t)
	must.Equal(t, any("ready"), ready["status"])
	must.Contain(t, rig.JSON(ready["warnings"]), "SIMULATED", "the warnings are")
	must.Contain(t, harness.Text(t, n.OperatorURL+"/metrics"), "ringback_info")
	must.Contain(t, harness.Text(t, n.OperatorURL+"/debug/pprof/goroutine?debug=1"), "goroutine profile")
	must.Contain(t, harness.Text(t, n.OperatorURL+"/debug/pprof/"), "heap")
	for _, path := range []string{"/metrics", "/log-level", "/debug/pprof/", "/debug/pprof/heap"} {
		must.Equal(t, http.StatusNotFound, n.Respond(t, "GET", path, nil).Status, path)
	}
	bare := n.Respond(t, "GET", "/readyz", nil)
	must.Equal(t, http.StatusOK, bare.Status)
	must.Equal(t, "", bare.Text, "the answer to probes")
	for _, path := range []string{"/api/jobs", "/healthz", "/", "/api/claude/progress"} {
		resp := harness.Exchange(t, n.OperatorURL, harness.Request{Method: "GET", Path: path})
		must.Equal(t, http.StatusNotFound, resp.Status, path)
	}
	for name, c := range map[string]harness.Request{
		"a name that a page has made resolve to this machine": {Method: "GET", Path: "/readyz", Host: "evil.example"},
		"a page of another site":                              {Method: "PUT", Path: "/log-level", Body: "DEBUG", Header: map[string]string{"Origin": "https://evil.example"}},
	} {
		must.Equal(t, http.StatusForbidden, harness.Exchange(t, n.OperatorURL, c).Status, name)
	}
}

// Where other machines reach the listener, a page of any site can have its own name resolve to it.
func TestNoPageChangesTheLevelOfTheLog(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"OPERATOR_LISTEN_ADDR": "0.0.0.0:0", "OPERATOR_REMOTE": "true"})
	const site = "evil.example"
	page := harness.Request{Method: "PUT", Path: "/log-level", Body: "DEBUG", Host: site, Header: map[string]string{"Origin": "http://" + site}}
	must.Equal(t, http.StatusForbidden, harness.Exchange(t, n.OperatorURL, page).Status)
	must.Contain(t, harness.Text(t, n.OperatorURL+"/log-level"), "INFO")
}

func TestTheLevelOfTheLogIsChangedWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	level := func(method, word string) (int, string) {
		resp := harness.Exchange(t, n.OperatorURL, harness.Request{Method: method, Path: "/log-level", Body: word})
		return resp.Status, strings.TrimSpace(resp.Text)
	}
	for _, c := range []struct {
		method, word string
		status       int
		says         string
	}{
		{"GET", "", 200, "INFO"},
		{"PUT", "error", 200, "ERROR"},
		{"GET", "", 200, "ERROR"},
		{"PUT", "loud", 400, "DEBUG, INFO, WARN or ERROR"},
		{"PUT", strings.Repeat("DEBUG", 1000), 400, "DEBUG, INFO, WARN or ERROR"},
		{"GET", "", 200, "ERROR"},
	} {
		status, text := level(c.method, c.word)
		must.Equal(t, c.status, status, c.method, c.word)
		must.Contain(t, text, c.says)
	}
	n.Respond(t, "POST", "/api/jobs", object{"kind": "no-such-kind"})
	must.NotContain(t, n.Log.String(), "API call", "at the level ERROR")
	level("PUT", "INFO\n")
	n.Respond(t, "POST", "/api/jobs", object{"kind": "no-such-kind"})
	must.Eventually(t, "the log to be as before", func() bool { return strings.Contains(n.Log.String(), "API call") })
}

// Several servers of one machine have the same default address for operators: it keeps none from starting. An
// address that was chosen does.
func TestAnAddressOfOperatorsThatIsTaken(t *testing.T) {
	t.Parallel()
	unset := func(cmd *exec.Cmd) {
		for i, entry := range cmd.Env {
			if strings.HasPrefix(entry, "OPERATOR_LISTEN_ADDR=") {
				cmd.Env = append(cmd.Env[:i:i], cmd.Env[i+1:]...)
				return
			}
		}
	}
	if l, err := net.Listen("tcp", "127.0.0.1:9464"); err == nil { // else another server of this machine has it
		defer l.Close()
	}
	n := rig.StartWith(t, harness.Options{Change: unset, Scan: scan.Suite})
	must.Equal(t, "", n.OperatorURL)
	must.Contain(t, n.Log.String(), "WARNING There is no listener for operators: OPERATOR_LISTEN_ADDR 127.0.0.1:9464 is in use, perhaps by another ringback: stop that, or set OPERATOR_LISTEN_ADDR to another port")
	must.Equal(t, http.StatusOK, n.Respond(t, "GET", "/readyz", nil).Status, "the server works")

	none := rig.Start(t, vars{"OPERATOR_LISTEN_ADDR": ""})
	must.Equal(t, "", none.OperatorURL, "turned off")
	must.NotContain(t, none.Log.String(), "OPERATOR_LISTEN_ADDR")

	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	code, out, _ := rig.Ringback(t, vars{"LISTEN_ADDR": "127.0.0.1:0", "OPERATOR_LISTEN_ADDR": taken.Addr().String(), "LOG_FORMAT": "text"}, "serve")
	must.Equal(t, 1, code, out)
	must.Contain(t, out, "OPERATOR_LISTEN_ADDR "+taken.Addr().String()+" is in use")
}

func TestDoctorShowsSinceWhenPeopleAreAwaited(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"HOLD": "0s"})
	must.Equal(t, nil, n.Want(t, 200, "GET", "/api/doctor", nil)["oldestQuestion"])
	var asked []string
	for _, user := range []string{"u1", "u2"} {
		_, envelope := n.Manual(t, object{"userId": user})
		n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelope, object{"type": "information_request", "message": "Which?"}))
	}
	for _, one := range n.Want(t, 200, "GET", "/api/checkpoints?status=open", nil)["checkpoints"].([]any) {
		asked = append(asked, one.(object)["createdAt"].(string))
	}
	must.Equal(t, any(slices.Min(asked)), n.Want(t, 200, "GET", "/api/doctor", nil)["oldestQuestion"], "of", asked)
	must.Contain(t, rig.CommandLine(t, n)("doctor"), "The oldest open question is of ")
}
