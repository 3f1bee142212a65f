package attack

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
)

// What a job is asked for with is what it gets: each number with all of its digits, or
// the job is refused.
func TestInputsKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	kinds := t.TempDir()
	if err := os.WriteFile(filepath.Join(kinds, "gated.md"), []byte(deployKind), 0o600); err != nil {
		t.Fatal(err)
	}
	s := harness.Start(t, harness.Vars{"PROMPTS_DIR": kinds, "HOLD": "0s"}, nil)
	ask := func(number string) (int, harness.Object) {
		body := `{"kind":"gated","userId":"u1","options":{"simulate":"manual"},"input":{"to":{"accounts":[` + number + `]}}}`
		return harness.Send(t, s.URL, harness.Request{Method: "POST", Path: "/api/jobs", Body: body})
	}
	for _, number := range []string{
		"1234567890123456789", "-1234567890123456789", "9007199254740993", "18446744073709551617", "123456789012345678901234567890",
		"0.1000000000000000055511151231257827", "0.30000000000000000001", "1.0", "1.10", "1e2", "1E+2", "-0", "-0.0", "1e-300", "1234567890123456789e3",
	} {
		status, answer := ask(number)
		if status != http.StatusAccepted {
			t.Errorf("%s was answered %d %v", number, status, answer)
			continue
		}
		id, _ := answer["requestId"].(string)
		if record := harness.Text(t, s.URL+"/api/jobs/"+id); !strings.Contains(record, `"accounts":[`+number+`]`) {
			t.Errorf("%s has become: %s", number, record)
		}
	}
	for _, number := range []string{"1e400", "-1e400", "5e-324", "1e99999999999999999999", strings.Repeat("9", 400), "NaN", "Infinity", "0x10", "01", "+1", ".5", "1."} {
		if status, answer := ask(number); status != http.StatusBadRequest {
			t.Errorf("%s was answered %d %v", number, status, answer)
		}
	}
}
