package attack

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringback/internal/sandbox/process"
	"ringback/test/harness"
	"ringback/test/must"
)

// Without a sandbox, a job can write the files with which a restarting server finds its
// process. Whatever they contain, the server ends only the job's processes, and starts.
func TestARecordedProcessIsNobodyElses(t *testing.T) {
	t.Parallel()
	harness.EachUser(t, forgeRecords)
}

func forgeRecords(t *testing.T, u harness.User) {
	dir := u.Dir(t)
	cli := filepath.Join(dir, "claude")
	harness.WriteProgram(t, cli, "#!/bin/sh\n"+harness.AnswersVersion+harness.AnswersTrial+"exec sleep 100")
	u.Own(t, dir)
	env := harness.Vars{"DATA_DIR": filepath.Join(dir, "data"), "HOME": dir, "CLAUDE_BIN": cli, "WORKERS": "40", "USER_LIMIT": "40", "SANDBOX": "off"}
	first := harness.Start(t, env, u.Run)
	spellings := map[string]string{
		"the victim's pid":             `{"pid":PID,"started":"STARTED","marker":"MARKER"}`,
		"with the true place":          `{"pid":PID,"started":"STARTED","place":"PLACE","marker":"MARKER"}`,
		"its pid twice":                `{"pid":1234567,"pid":PID,"started":"STARTED","place":"PLACE","marker":"MARKER"}`,
		"in capitals":                  `{"PID":PID,"STARTED":"STARTED","PLACE":"PLACE","MARKER":"MARKER"}`,
		"no time":                      `{"pid":PID,"started":"","place":"PLACE","marker":"MARKER"}`,
		"no marker":                    `{"pid":PID,"started":"STARTED","place":"PLACE"}`,
		"the victim's marker":          `{"pid":PID,"started":"STARTED","place":"PLACE","marker":"of/a/victim"}`,
		"another job's marker":         `{"pid":PID,"started":"STARTED","place":"PLACE","marker":"req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa/1"}`,
		"a marker that goes on":        `{"pid":PID,"started":"STARTED","place":"PLACE","marker":"MARKER\u0000"}`,
		"its pid as the group's":       `{"pid":-PID,"started":"STARTED","place":"PLACE","marker":"MARKER"}`,
		"as the leader of a sandbox":   `{"pid":1234567,"started":"1","place":"PLACE","marker":"MARKER","leader":{"pid":PID,"started":"STARTED"}}`,
		"as the leader beside itself":  `{"pid":PID,"started":"STARTED","place":"PLACE","marker":"MARKER","leader":{"pid":PID,"started":"STARTED"}}`,
		"cut short":                    `{"pid":PID,"started":"STARTED","place":"PLACE","marker":"MARKER"`,
		"a link to one":                "link",
		"a pipe that nobody writes to": "pipe",
		"a device without an end":      "device",
		"a directory":                  "directory",
	}
	var jobs []string
	victims := map[string]*exec.Cmd{}
	for name := range spellings {
		id, _ := first.Want(t, http.StatusAccepted, harness.Request{Method: "POST", Path: "/api/jobs", Body: harness.Object{
			"kind": "meal-suggestions", "userId": "u1", "input": mealInput,
		}})["requestId"].(string)
		jobs, victims[name] = append(jobs, id), startVictim(t, u)
	}
	records := map[string]string{}
	for i, id := range jobs {
		harness.Eventually(t, "the record of a process", func() bool {
			found, _ := filepath.Glob(filepath.Join(dir, "data/nodes/*/jobs", id, "turn-1.json"))
			if len(found) == 1 {
				records[jobs[i]] = found[0]
			}
			return len(found) == 1
		})
	}
	_ = first.Cmd.Process.Kill()
	harness.Eventually(t, "the server to be gone", func() bool { return process.StartTime(first.Cmd.Process.Pid) == "" })
	i := 0
	for name, text := range spellings {
		forge(t, u, records[jobs[i]], text, jobs[i]+"/1", victims[name].Process.Pid)
		i++
	}
	second := harness.Start(t, env, u.Run)
	for _, id := range jobs {
		second.Want(t, http.StatusOK, harness.Request{Method: "POST", Path: "/api/jobs/" + id + "/cancel"})
	}
	harness.Eventually(t, "all turns to end", func() bool {
		return fmt.Sprint(second.Want(t, http.StatusOK, harness.Request{Method: "GET", Path: "/api/jobs?status=running"})["jobs"]) == "[]"
	})
	for name, victim := range victims {
		if process.StartTime(victim.Process.Pid) == "" {
			t.Errorf("%s: a process of somebody else's was ended", name)
		}
	}
}

// startVictim starts a process of the user that does not belong to the server.
func startVictim(t *testing.T, u harness.User) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Env = []string{process.MarkerVar + "=of/a/victim"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	u.Run(cmd)
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// forge replaces a record, as a job could.
func forge(t *testing.T, u harness.User, record, text, marker string, victim int) {
	t.Helper()
	place := ""
	before, err := os.ReadFile(record)
	if err == nil {
		_, after, _ := strings.Cut(string(before), `"place":"`)
		place, _, _ = strings.Cut(after, `"`)
		err = os.Remove(record)
	}
	must.OK(t, err)
	text = strings.NewReplacer(":PID", fmt.Sprint(":", victim), "-PID", fmt.Sprint("-", victim), `:"STARTED"`, `:"`+process.StartTime(victim)+`"`, `:"PLACE"`, `:"`+place+`"`, `:"MARKER`, `:"`+marker).Replace(text)
	switch text {
	case "link":
		target := record + ".target"
		_ = os.WriteFile(target, fmt.Appendf(nil, `{"pid":%d,"started":%q,"place":%q,"marker":%q}`, victim, process.StartTime(victim), place, marker), 0o600)
		err = os.Symlink(target, record)
	case "pipe":
		err = syscall.Mkfifo(record, 0o600)
	case "device":
		err = os.Symlink("/dev/zero", record)
	case "directory":
		err = os.Mkdir(record, 0o700)
	default:
		err = os.WriteFile(record, []byte(text), 0o600)
	}
	must.OK(t, err)
	u.Own(t, filepath.Dir(record))
}
