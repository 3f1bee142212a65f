package job_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Whoever is told a code finds what it means, and what to do.
func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("job.go")
	if err != nil {
		t.Fatal(err)
	}
	const document = "../../docs/how-to/find-out.md"
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`\tCode\w+ +Code = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 15 {
		t.Fatalf("found the codes %q only", codes)
	}
	for _, code := range codes {
		if !strings.Contains(string(text), "`"+code[1]+"`") {
			t.Errorf("%s does not explain %s", document, code[1])
		}
	}
}
