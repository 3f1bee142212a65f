package claude_test

import (
	"encoding/json"
	"os"
	"testing"

	"ringback/internal/turn/claude"
	"ringback/test/must"
)

// The version that ringback check names is the one that the tests install.
func TestTheTestedVersionIsThatOfTheTests(t *testing.T) {
	t.Parallel()
	var packages struct{ Dependencies map[string]string }
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile("../../../scripts/npm/package.json"))(t), &packages))
	must.Equal(t, packages.Dependencies["@anthropic-ai/claude-code"], claude.Tested)
}
