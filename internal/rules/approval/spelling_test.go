package approval_test

import (
	"fmt"
	"testing"

	"ringback/internal/rules/approval"
	"ringback/test/spelling"
)

// However a command is spelled, no rule that is not for it allows it, and one that is
// denied or asked for does not run unasked.
func TestNoSpellingIsAllowed(t *testing.T) {
	t.Parallel()
	spelled := map[string]bool{}
	for seed := range uint64(1000) {
		g := spelling.New(seed)
		target := fmt.Sprintf("keep/%d", seed)
		for rules, command := range map[string]string{
			"allow Bash; deny Bash(rm *)":    g.Call("rm", target),
			"allow Bash; ask Bash(touch *)":  g.Call("touch", target),
			"allow Bash; deny Read(**/.env)": g.Read(),
			"allow Bash; ask Read(**/.env)":  g.Read(),
			"allow Bash(ls *); allow Bash(cat *); allow Bash(git *); allow Bash(go *); allow Bash(gcc *); allow Bash(find *)": g.Smuggle("touch " + target),
		} {
			call := callOf(t, "Bash: "+command)
			call.Resolve = linked(map[string]string{"/work/link": "/work/.env", "/work/sub/link": "/work/.env", "/work/dir": "/work/sub", "/work/hard": "/work/.env", "/proc": "", "/dev": ""})
			if verdict, rule := verdictOf(rulesOf(t, rules), call); verdict == approval.Allow {
				t.Errorf("%s: %q is allowed by %s", rules, command, rule)
			}
			spelled[command] = true
		}
	}
	if len(spelled) < 2500 {
		t.Errorf("only %d spellings were tried", len(spelled))
	}
}
