package claude_test

import (
	"path/filepath"
	"slices"
	"testing"

	"ringback/internal/turn/claude"
)

// The hosts of the model are those that the CLI would call.
func TestWhereTheModelIs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, ".claude", "settings.json"), `{"env": {"ANTHROPIC_BASE_URL": "https://gateway.example/v1", "N": 1}}`)
	for name, c := range map[string]struct {
		environ []string
		want    string
		local   []string
	}{
		"nothing":        {nil, "api.anthropic.com", nil},
		"a gateway":      {[]string{"ANTHROPIC_BASE_URL=http://litellm:4000"}, "litellm:4000", nil},
		"this machine":   {[]string{"ANTHROPIC_BASE_URL=http://localhost:8080/x"}, "", []string{"localhost:8080"}},
		"Bedrock":        {[]string{"CLAUDE_CODE_USE_BEDROCK=1"}, "bedrock-runtime.*.amazonaws.com", nil},
		"Bedrock's own":  {[]string{"CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_BEDROCK_BASE_URL=https://bedrock.example"}, "bedrock.example:443", nil},
		"Vertex":         {[]string{"CLAUDE_CODE_USE_VERTEX=1"}, "*-aiplatform.googleapis.com", nil},
		"not Vertex":     {[]string{"CLAUDE_CODE_USE_VERTEX=0"}, "api.anthropic.com", nil},
		"settings.json":  {[]string{"HOME=" + home, "ANTHROPIC_BASE_URL=http://localhost:1"}, "gateway.example:443", nil},
		"no settings":    {[]string{"HOME=" + t.TempDir()}, "platform.claude.com", nil},
		"what is no URL": {[]string{"ANTHROPIC_BASE_URL=gateway"}, "", nil},
	} {
		hosts, local := claude.ModelHosts(c.environ)
		if c.want != "" && !slices.Contains(hosts, c.want) || c.want == "" && len(hosts) > 0 || !slices.Equal(local, c.local) {
			t.Errorf("%s: got %v, %v, want %s, %v", name, hosts, local, c.want, c.local)
		}
	}
}
