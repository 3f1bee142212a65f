package scan_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/test/scan"
)

const planted = `a "planted"/secret+of&the <server>`

func TestASecretIsFoundHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	s := scan.New()
	s.PlantVariables(map[string]string{"JWT_SECRET": planted, "API_KEYS": "first-key-1234,second-key-1234", "REDIS_URL": "redis://:the-password@h:1", "LOG_LEVEL": "something-long"})
	quoted, _ := json.Marshal(planted)
	twice, _ := json.Marshal(string(quoted))
	for name, text := range map[string]string{
		"as it is":          planted,
		"in JSON":           string(quoted),
		"JSON in JSON":      string(twice),
		"in a query":        url.Values{"q": {planted}}.Encode(),
		"in a path":         url.PathEscape(planted),
		"in hex":            hex.EncodeToString([]byte(planted)),
		"in upper hex":      strings.ToUpper(hex.EncodeToString([]byte(planted))),
		"in base64":         base64.StdEncoding.EncodeToString([]byte(planted)),
		"deep in base64":    base64.StdEncoding.EncodeToString([]byte("user:" + planted + ":rest")),
		"deeper in base64":  base64.StdEncoding.EncodeToString([]byte("user::" + planted + ":rest")),
		"in base64 of URLs": base64.RawURLEncoding.EncodeToString([]byte(`{"a":"` + planted + `"}`)),
		"one of several":    "second-key-1234",
		"a password":        "the-password",
		"a user's token":    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSIsImV4cCI6MX0." + strings.Repeat("a", 43),
	} {
		for _, around := range []string{"%s", "before %s", "%s\nafter", "x%sx"} {
			if found := s.Look(scan.Place{Where: scan.Log}, fmt.Appendf(nil, around, text)); len(found) == 0 {
				t.Errorf("%s, in %q: %s is not found", name, around, text)
			}
		}
	}
	for _, harmless := range []string{"", "something-long", planted[1:], "first-key-123", "eyJ.eyJ.", strings.Repeat("0", 64)} {
		if found := s.Look(scan.Place{Where: scan.Log}, []byte(harmless)); len(found) > 0 {
			t.Errorf("%q is taken for %v", harmless, found)
		}
	}
}

// aof writes an append-only file, as Redis does.
func aof(t *testing.T, commands ...[]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "appendonlydir"), 0o700); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, command := range commands {
		fmt.Fprintf(&text, "*%d\r\n", len(command))
		for _, word := range command {
			fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(word), word)
		}
	}
	text.WriteString("*2\r\n$3\r\nDE") // killed while it wrote
	if err := os.WriteFile(filepath.Join(dir, "appendonlydir", "a.incr.aof"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestASecretIsFoundInTheStoresPast(t *testing.T) {
	t.Parallel()
	s := scan.New()
	s.Plant(scan.OfServer, "JWT_SECRET", planted)
	for name, commands := range map[string][][]string{
		"a value that was deleted": {{"SET", "rb:{0a}:stderr:req_1:1", "see " + planted}, {"DEL", "rb:{0a}:stderr:req_1:1"}},
		"a field":                  {{"HSET", "rb:{0a}:job:req_1", "error", planted}},
		"an event":                 {{"XADD", "rb:{0a}:events:u1", "1-1", "f", `{"data":` + string(must(json.Marshal(planted))) + `}`}},
		"a key's name":             {{"SET", "rb:{0a}:idempotency:" + planted, "x"}},
		"a compressed text":        {{"HSET", "rb:{0a}:conversation:x", "at", "req_1/1", "text", compressed("see " + planted)}},
		"two pieces":               {{"SETRANGE", "rb:{0a}:transcript:req_1:1", "0", planted[:9]}, {"INCR", "x"}, {"SETRANGE", "rb:{0a}:transcript:req_1:1", "9", planted[9:]}},
	} {
		if found := must(s.Store(aof(t, commands...))); len(found) == 0 {
			t.Errorf("in %s it is not found", name)
		}
	}
}

func compressed(text string) string {
	var out strings.Builder
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return out.String()
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestTheSecretsOfTurnsAreFoundOnceTheyAreKnown(t *testing.T) {
	t.Parallel()
	secret, id := job.NewSecret(), job.ID("req_1")
	signature := string(secret.Sign(id))
	stored := []string{"HSET", "rb:{0a}:secret:req_1", "secret", string(secret), "userId", "u1"}
	for name, text := range map[string]string{
		"the secret":             string(secret),
		"the signature":          `{"hmac":"` + signature + `"}`,
		"in a longer run":        signature + signature[:5],
		"in upper case":          strings.ToUpper(signature),
		"in base64":              base64.StdEncoding.EncodeToString([]byte("hmac=" + signature + ";")),
		"the secret in hex, too": hex.EncodeToString([]byte(secret)),
	} {
		for _, place := range []scan.Place{{Where: scan.Log}, {Where: scan.Frame}, scan.Answer("/api/jobs/req_1?x=1"), {Where: scan.File, Name: "redis/redis.log"}, {Where: scan.Environ, Name: "turn HMAC"}, {Where: scan.Argv, Name: "git"}} {
			s := scan.New()
			if found := s.Look(place, []byte(text)); len(found) > 0 {
				t.Errorf("%s is taken for %v before it is known", name, found)
			}
			if found := must(s.Store(aof(t, stored))); len(found) == 0 {
				t.Errorf("%s: %s is not found", place, name)
			}
		}
	}
	s := scan.New()
	for _, home := range []scan.Place{scan.Answer("/api/jobs/req_1/callback"), {Where: scan.Argv, Name: "turn"}, {Where: scan.File, Name: "nodes/0/jobs/req_1/settings.json"}} {
		s.Look(home, []byte(signature))
	}
	if found := must(s.Store(aof(t, stored))); len(found) > 0 {
		t.Errorf("what a turn needs is taken for a leak: %v", found)
	}
	s.Look(scan.Answer("/api/jobs/req_1/callback"), []byte(secret))
	if found := must(s.Store(aof(t, stored, []string{"HSET", "rb:{0a}:job:req_1", "hmac", signature}))); len(found) != 2 {
		t.Errorf("found %v", found)
	}
}

func TestASecretIsFoundInFiles(t *testing.T) {
	t.Parallel()
	s := scan.New()
	s.Plant(scan.OfServer, "JWT_SECRET", planted)
	var object bytes.Buffer
	packed := zlib.NewWriter(&object)
	fmt.Fprintf(packed, "blob %d\x00%s", len(planted), planted)
	packed.Close()
	for name, text := range map[string]string{
		"nodes/0/jobs/req_1/work/notes.txt":                             "x" + planted,
		"redis/redis.log":                                               planted,
		"mirrors/a/objects/00/" + strings.Repeat("a", 38):               object.String(),
		"workspaces/req_1/tree/" + strings.ReplaceAll(planted, "/", ""): "",
	} {
		if strings.HasPrefix(name, "workspaces") {
			s.Plant(scan.OfServer, "JWT_SECRET", strings.ReplaceAll(planted, "/", ""))
		}
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if found := must(s.Files(dir)); len(found) == 0 {
			t.Errorf("in %s it is not found", name)
		}
	}
}

// Not parallel: the processes of other tests of this package would be watched, too.
func TestASecretIsFoundInProcesses(t *testing.T) { //nolint:paralleltest // see above
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("there is no /proc here")
	}
	for name, change := range map[string]func(*exec.Cmd){
		"argv":                   func(cmd *exec.Cmd) { cmd.Args = append(cmd.Args, planted) },
		"environment":            func(cmd *exec.Cmd) { cmd.Env = []string{"HIDDEN=" + planted} },
		"argv of a child":        func(cmd *exec.Cmd) { cmd.Args = []string{"sh", "-c", "sleep 60 & wait # " + planted} },
		"a session of its own":   func(cmd *exec.Cmd) { cmd.Args = []string{"sh", "-c", "setsid sleep 2 & HIDDEN=1 wait # " + planted} },
		"environment of a child": func(cmd *exec.Cmd) { cmd.Args[2] = "export A='" + planted + "'; sleep 60 & wait" },
		"in base64 in a variable": func(cmd *exec.Cmd) {
			cmd.Env = []string{"B=" + base64.StdEncoding.EncodeToString([]byte("x:"+planted))}
		},
	} {
		s := scan.New()
		s.Plant(scan.OfServer, "JWT_SECRET", planted)
		cmd := exec.Command("sh", "-c", "sleep 60 & wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		change(cmd)
		found, stop := s.Watch(os.Getpid())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); len(found()) == 0 && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		stop()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if len(found()) == 0 {
			t.Errorf("%s: it is not found", name)
		}
	}
}
