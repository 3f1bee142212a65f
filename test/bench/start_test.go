package bench

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// Go initializes every package of the binary at each start, whichever command is run. The
// allocations of initializers do not depend on the speed of the machine, and are a measure
// of their time. The first garbage collection, which costs milliseconds more, begins at 4
// MB.
const (
	mostAtStart   = 3_000_000
	mostOfPackage = 50_000
)

// mostOf lists the dependencies that need more than mostOfPackage, in bytes.
var mostOf = map[string]int{
	"github.com/santhosh-tekuri/jsonschema/v5":       1_200_000, // compiles the metaschemas of all drafts
	"github.com/yuin/goldmark/extension":             320_000,   // patterns of URLs
	"github.com/yuin/goldmark/parser":                140_000,
	"github.com/yuin/goldmark/util":                  180_000, // HTML entities
	"github.com/google/jsonschema-go/jsonschema":     110_000, // by the MCP SDK
	"github.com/prometheus/client_golang/prometheus": 120_000,
	"github.com/itchyny/gojq":                        250_000, // jq's functions, for --jq
	"github.com/prometheus/procfs":                   130_000,
}

func TestAStartInitializesLittle(t *testing.T) {
	t.Parallel()
	if os.Getenv("RACE_SERVERS") != "" {
		t.Skip("the race detector allocates, too")
	}
	var trace bytes.Buffer
	cmd := exec.CommandContext(t.Context(), harness.Binary(), "version")
	cmd.Env, cmd.Stderr = append(os.Environ(), "GODEBUG=inittrace=1,gctrace=1"), &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, trace.String())
	}
	total, packages := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(trace.String(), -1) {
		name := m[1]
		size := must.Get(strconv.Atoi(m[2]))(t)
		total += size
		packages++
		most := mostOf[name]
		if most == 0 {
			most = mostOfPackage
		}
		switch {
		case size <= most:
		case strings.HasPrefix(name, "ringback/"):
			t.Errorf("%s allocates %d bytes at each start, and may allocate %d: compute package-level variables on first use (lazy.Regexp, sync.OnceValue)", name, size, most)
		default:
			t.Errorf("%s allocates %d bytes at each start, and may allocate %d: import a cheaper package, or raise its bound in mostOf and say why", name, size, most)
		}
	}
	if strings.Contains(trace.String(), "\ngc 1 ") {
		t.Error("the garbage collector runs before a command does: the server's minHeap is not for others")
	}
	if packages < 20 {
		t.Fatalf("the trace lists %d packages:\n%s", packages, trace.String())
	}
	if total > mostAtStart {
		t.Errorf("all packages together allocate %d bytes at each start, and may allocate %d:\n%s", total, mostAtStart, trace.String())
	}
}
