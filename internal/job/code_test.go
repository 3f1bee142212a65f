package job_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// The console and the documentation give the same remedy for every code.
func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	source := must.Get(os.ReadFile("job.go"))(t)
	const document = "../../docs/how-to/find-out.md"
	text := must.Get(os.ReadFile(document))(t)
	codes := regexp.MustCompile(`\tCode\w+ +Code = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 15 {
		t.Fatalf("found the codes %q only", codes)
	}
	link := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	for _, code := range codes {
		remedy := job.Code(code[1]).Remedy()
		row := regexp.MustCompile("(?m)^\\| `" + code[1] + "` \\| .+ \\| (.+) \\|$").FindStringSubmatch(string(text))
		if remedy == "" || row == nil || link.ReplaceAllString(strings.ReplaceAll(row[1], "`", ""), "$1") != remedy {
			t.Errorf("%s says of %s %q, the remedy is %q", document, code[1], row, remedy)
		}
	}
}
