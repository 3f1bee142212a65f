package approval_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ringback/internal/rules/approval"
	"ringback/test/must"
)

func TestOptionsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"sort -o -- --compress-program=./evil -S 1k big", "sort -ro -- --compress-program=./evil", "sort -k 2 a", "sort -t, a", "sort --reverse a", "sort -- a", "sort -T. a", "git grep -e -- -O./evil x", "git grep -ne -- --open-files-in-pager=./evil",
		"git grep -O", "git grep --open-files-in-pager x", "rg -e -- --pre=./evil x .", "rg --regexp -- --pre=./evil .", "rg -ne -- --pre ./evil", "rg -z x", "rg -nz x", "rg --hostname-bin ./evil x", "rg -f .env x", "git log -S -- --output=x -p",
		"git log --author -- --output=x", "git log -n -- --ext-diff", "git log -n 5", "git log --format=%G?", "git log --show-signature", "git log -pO", "git log --out=x", "git log --oneline=x", "git diff -U -- --ext-diff", "git diff --ext-diff", "git diff -G -- --textconv",
		"git show --textconv x", "git blame -L -- --contents=x", "git shortlog -w -- --exec", "git add -p", "git add -i", "git add -e", "git add -Ae", "git add --patch", "git branch --edit-description", "git branch -D x", "git branch -u x", "git status --untracked-files=all",
		"git rev-list --disk-usage x", "git ls-files -X .env", "git rev-parse --parseopt", "git describe --dirty=x", "git -p log", "git --paginate log", "git --no-pager --paginate log", "git --no-pager -c a=b log", "tree -P -- -o x", "tree -o x", "tree -ao x", "tree -R -L 1", "tree --fromfile .env",
		"diff -l a b", "diff -yl a b", "diff --paginate a b", "diff -F -- --paginate", "diff --from-file=.env b", "file -m evil a", "file -f .env", "file -z a.gz", "file -bz a.gz", "file -C", "find . -name -exec id +", "find . -newer -delete", "find -files0-from .env", "find . -fprintf x y",
		"sed -n 1p -i a", "sed -n 1p -- -e 1e", "sed -n -e 1e a", "jq -L. 'import \"evil\" as e; .' a", "jq -n 'import \"secrets\" as $s; $s'", "command -p id", "command -vp id", "test -v a[0]", "printf -v PATH .",
	} {
		program := strings.Join(strings.Fields(command)[:1], " ")
		for _, rules := range []string{"allow Bash(" + program + " *)", "allow Bash; deny Bash(whoami *)"} {
			verdict, rule := verdictOf(rulesOf(t, rules), callOf(t, "Bash: "+command))
			if verdict == approval.Allow {
				t.Errorf("%s: %q is allowed by %s", rules, command, rule)
			}
		}
	}
	checkVerdicts(t, []verdictRow{
		{"allow Bash(git *)", "Bash: git log --oneline -5", approval.Allow, "it only shows"},
		{"allow Bash(git log *)", "Bash: git --no-pager log", approval.NoOpinion, "it is another command"},
		{"allow Bash(git *)", "Bash: git --no-pager log -p", approval.Allow, "it only shows"},
		{"allow Bash(git *)", "Bash: git diff --stat -- src/a.go", approval.Allow, "it only shows"},
		{"allow Bash(git *)", "Bash: git status --short", approval.Allow, "it only shows"},
		{"allow Bash(git *)", "Bash: git rev-parse --show-toplevel", approval.Allow, "it only shows"},
		{"allow Bash(git *)", "Bash: git $'log\\u00a0x' y", approval.NoOpinion, "it is no subcommand"},
		{"allow Bash(sort *)", "Bash: sort -rnu a -", approval.Allow, "it only sorts"},
		{"allow Bash(diff *)", "Bash: diff -ru3 a b", approval.Allow, "it only compares"},
		{"allow Bash(tree *)", "Bash: tree -ad src", approval.Allow, "it only looks"},
		{"allow Bash(find *)", "Bash: find . -type f ! -name '*.go'", approval.Allow, "it only looks"},
		{"allow Bash(ls *)", "Bash: ls --color=never -- -a", approval.Allow, "it runs nothing, whatever its options"},
	})
}

// A file is guarded however its name is put into a command: behind options in one word, behind
// every redirection, in a list of files.
func TestFilesThatOptionsAndRedirectionsName(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"cp -vtconfig a", "cp -tconfig a", "cp -vt config a", "mv -fvtconfig a", "ln -sft config a", "cp --target-directory=config a", "cp --target=config a", "tee -a config/x", "dd of=config/x", "touch -aconfig/x", "xxd -r a config/x",
		"echo x > config/x", "echo x >> config/x", "echo x >| config/x", "echo x &> config/x", "echo x &>> config/x", "echo x >& config/x", "echo x 1<> config/x", "echo x <> config/x", "echo x 2> config/x", "echo x {fd}> config/x", "echo x 3>& config/x", "{ echo x; } > config/x",
		"if true; then echo x; fi > config/x", "echo x >'config'/x", "echo x > ./config/../config/x", "echo x > CONFIG/x", "echo x > conf*/x", "echo x > $x", "cat <config/x", "cat 0<config/x", "cat <& config/x",
		"grep -hfconfig/x a", "grep -hnfconfig/x a", "date -fconfig/x", "date -uf config/x", "date -f con*/x", "du --files0-from=link", "du -Xlink", "who link", "hostname -F link", "strings @link", "grep -" + strings.Repeat("h", 40) + "fconfig/x a",
	} {
		for _, rules := range []string{"allow Bash; ask Edit(config/**); ask Read(config/**)", "allow Bash; deny Write(config/**); deny Grep(config/**)"} {
			call := callOf(t, "Bash: "+command)
			call.Resolve = linked(map[string]string{"/work/link": "/work/config/x"})
			verdict, _ := verdictOf(rulesOf(t, rules), call)
			must.Equal(t, approval.Ask, verdict, rules, command)
		}
	}
}

// The files in a list may be anywhere.
func TestFilesThatAListNames(t *testing.T) {
	t.Parallel()
	const guarded = "allow Bash; ask Read(//etc/**); ask Edit(~/x)"
	for command, want := range map[string]approval.Verdict{
		"du --files0-from=list": approval.Ask, "du --files0 list": approval.Ask, "du -a --fi=list": approval.Ask, "wc --files0-from list": approval.Ask,
		"md5sum -c list": approval.Ask, "sha256sum --check list": approval.Ask, "b2sum -wc list": approval.Ask, "cksum --ch list": approval.Ask,
		"du -sh .": approval.Allow, "wc -l a": approval.Allow, "md5sum a": approval.Allow, "wc --lines a": approval.Ask, "date -f list": approval.Allow,
		"date -f /etc/x": approval.Ask, "date --file=/etc/x": approval.Ask, "date -u -f/etc/x": approval.Ask, "date -f link": approval.Ask, "date -uflink": approval.Ask,
	} {
		call := callOf(t, "Bash: "+command)
		call.Resolve = linked(map[string]string{"/work/link": "/etc/x"})
		verdict, _ := verdictOf(rulesOf(t, guarded), call)
		must.Equal(t, want, verdict, command)
	}
}

// What a program reads from its input is named by no rule: a program that may run it is asked
// for, each time.
func TestARuleDoesNotNameWhatIsFedToAProgram(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		rule     string
		commands []string
	}{
		{"Bash(kubectl apply -f -)", []string{
			"kubectl apply -f - <<< 'kind: evil'", "kubectl apply -f - < evil.yml", "kubectl apply -f - <<X\nkind: evil\nX", "echo evil | kubectl apply -f -", "echo evil |& kubectl apply -f -", "(kubectl apply -f -) < evil.yml", "{ kubectl apply -f -; } <<< evil",
			"if true; then kubectl apply -f -; fi < evil.yml", "while kubectl apply -f -; do true; done < evil.yml", "case x in x) kubectl apply -f -;; esac < evil.yml", "echo evil | { true; kubectl apply -f -; }", "echo evil | (true && kubectl apply -f -)",
			"kubectl apply -f - 0< evil.yml", "kubectl apply -f - <> evil.yml", "kubectl apply -f - 3< evil.yml", "kubectl apply -f - <&3", "time kubectl apply -f - < evil.yml", "! kubectl apply -f - < evil.yml", "kubectl apply -f - < '/dev/null/../../work/evil'",
		}},
		{"Bash(python3)", []string{"python3 < evil.py", "python3 | python3", "python3 <<< 'import os'", "cat evil.py | python3", "python3 <(cat evil.py)"}},
	} {
		for _, command := range row.commands {
			for _, masked := range []bool{true, false} {
				call := callOf(t, "Bash: "+command)
				call.Masked = masked
				rules := approval.ToolRules{Allow: []string{row.rule, "Bash(cat *)", "Bash(echo *)", "Bash(true *)"}, Ask: []string{"Bash"}}
				must.Equal(t, approval.Ask, rules.Judge(call).Verdict, row.rule, command)
				asked := approval.ToolRules{Ask: []string{row.rule}, Allow: []string{"Bash"}}.Judge(call)
				must.Equal(t, approval.Ask, asked.Verdict, "ask", row.rule, command)
				must.Contain(t, asked.Permits, "Bash: {", "a yes for always to", command)
			}
		}
	}
	checkVerdicts(t, []verdictRow{
		{"allow Bash(python3)", "Bash: python3 < /dev/null", approval.Allow, "nothing is fed to it"},
		{"allow Bash(python3)", "Bash: python3 2>&1", approval.Allow, "nothing is fed to it"},
		{"allow Bash(python3); allow Bash(head *)", "Bash: python3 | head -3", approval.Allow, "head only shows what it is fed"},
		{"allow Bash(cat)", "Bash: cat < a", approval.Allow, "cat only shows what it is fed"},
	})
}

// In the sandbox, what an author names holds as it is written. Elsewhere, it allows nothing.
func TestWhatAnAuthorNamesHoldsInTheSandbox(t *testing.T) {
	t.Parallel()
	const brought = "allow Bash(go test *); allow Bash(npm run *); allow Bash(make *); allow Bash(ls *); allow Bash(cat *); allow Bash(git commit *); allow Bash(git *); allow Bash(sort *); allow Bash(find *); allow Bash(./scripts/* --fast); allow Bash(tail *); allow Bash(cd *)"
	const guarded = brought + "; deny Bash(git push *); ask Bash(curl *); deny Read(**/.env); ask Write(config/**); ask Read(notes/**); deny Bash(npm run deploy *)"
	both := func(v approval.Verdict) [2]approval.Verdict { return [2]approval.Verdict{v, v} }
	for _, row := range []struct {
		rules, command string
		want           [2]approval.Verdict // in the sandbox, and without it
		because        string
	}{
		{brought, "go test ./...", [2]approval.Verdict{approval.Allow, ""}, "the rule names it"},
		{brought, "go test -exec ./evil ./...", [2]approval.Verdict{approval.Allow, ""}, "the rule names it with all arguments"},
		{brought, "npm run build", [2]approval.Verdict{approval.Allow, ""}, "the rule names it"},
		{brought, "make", [2]approval.Verdict{approval.Allow, ""}, "the rule names it"},
		{brought, "git commit -m 'x'", [2]approval.Verdict{approval.Allow, ""}, "the rule names the subcommand"},
		{brought, "./scripts/a --fast", [2]approval.Verdict{approval.Allow, ""}, "the rule names it"},
		{brought, "ls && go test ./... 2>&1", [2]approval.Verdict{approval.Allow, ""}, "a rule names each"},
		{brought, "go test ./... | tail -20", [2]approval.Verdict{approval.Allow, ""}, "a rule names each"},
		{brought, "cd sub && npm run build", [2]approval.Verdict{approval.Allow, ""}, "a rule names each"},
		{brought, "ls; cat a", both(approval.Allow), "a rule names each"},

		{brought, "go vet ./...", both(""), "no rule names it"},
		{brought, "go test ./... && rm -rf x", both(""), "no rule names rm"},
		{brought, "rm -rf x; make", both(""), "no rule names rm"},
		{brought, "make | sh", both(""), "no rule names sh"},
		{brought, "echo x | make", both(""), "no rule names echo"},
		{brought, "cat evil.mk | make -f -", both(""), "what is fed to it is not named"},
		{brought, "make -f - < evil.mk", both(""), "what is fed to it is not named"},
		{brought, "make > log", both(""), "it writes a file"},
		{brought, "make $(id)", both(""), "it is not understood"},
		{brought, "make $X", both(""), "it is not understood"},
		{brought, "PATH=. make", both(""), "it is not understood"},
		{brought, "sh -c make", both(""), "no rule names sh"},
		{brought, "./make", both(""), "it is another program"},
		{brought, "/tmp/make", both(""), "it is another program"},
		{brought, "cd sub && ./scripts/a --fast", both(""), "it is another program there"},
		{brought, "git push", both(""), "no rule names the subcommand"},
		{brought, "git -c alias.x='!id' x", both(""), "no rule names the option"},
		{brought, "git grep -O./evil x", both(""), "git grep is known, and not with this option"},
		{brought, "sort -o -- --compress-program=./evil", both(""), "sort is known, and not with this option"},
		{brought, "find . -exec id +", both(""), "find is known, and not with this test"},
		{"allow Bash(* --version)", "rm --version", both(""), "a rule that names no program allows none"},
		{"allow Bash; deny Bash(git push *)", "make", both(approval.Ask), "Bash names no program"},

		{guarded, "npm run build", [2]approval.Verdict{approval.Allow, approval.Ask}, "the author answers for what it runs"},
		{guarded, "make && npm run build", [2]approval.Verdict{approval.Allow, approval.Ask}, "the author answers for what they run"},
		{guarded, "npm run deploy", both(approval.Deny), "it is denied"},
		{guarded, "npm --silent run deploy", both(approval.Ask), "it may be what is denied"},
		{guarded, "make && git push", both(approval.Deny), "it is denied"},
		{guarded, "make && git -C . push", both(approval.Ask), "it may be what is denied"},
		{guarded, "make .env", both(approval.Ask), "it names what is denied"},
		{guarded, "make config/prod.yml", both(approval.Ask), "it names what is asked for"},
		{guarded, "make link", [2]approval.Verdict{approval.Allow, approval.Ask}, "the author answers for what it reads"},
		{guarded, "make; cat n*/a", both(approval.Ask), "cat may read what is asked for, and nobody answers for that"},
		{guarded, "make; cat link", both(approval.Ask), "cat reads what is asked for, and nobody answers for that"},
		{guarded, "curl a.test", both(approval.Ask), "it is asked for"},
	} {
		for i, want := range row.want {
			call := callOf(t, "Bash: "+row.command)
			call.Masked = i == 0
			call.Resolve = linked(map[string]string{"/work/link": "/work/notes/a"})
			got, rule := verdictOf(rulesOf(t, row.rules), call)
			must.Equal(t, want, got, row.command, "in the sandbox:", call.Masked, "by", rule, "because", row.because)
		}
	}
	rules := rulesOf(t, brought+"; allow Bash(* -x); allow Bash(npm test); allow Read(a)")
	must.Equal(t, "[Bash(go test *) Bash(npm run *) Bash(make *) Bash(git commit *) Bash(./scripts/* --fast)]", fmt.Sprint(rules.Open()))
}

// A yes for always to a call that an ask rule names permits the rule where it covers the call, in
// the sandbox, and exactly the call elsewhere.
func TestWhatAYesForAlwaysPermitsInTheSandbox(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		rules, command  string
		sandbox, permit string
	}{
		{"ask Bash(make *)", "make deploy", "Bash(make *)", `Bash: {"command":"make deploy"}`},
		{"ask Bash(make *)", "make deploy && ls", `Bash: {"command":"make deploy && ls"}`, `Bash: {"command":"make deploy && ls"}`},
		{"ask Bash(make *)", "make deploy < x", `Bash: {"command":"make deploy < x"}`, `Bash: {"command":"make deploy < x"}`},
		{"ask Bash(make *)", "make $x", `Bash: {"command":"make $x"}`, `Bash: {"command":"make $x"}`},
		{"ask Bash(make *); deny Bash(git push *)", "make deploy", `Bash: {"command":"make deploy"}`, `Bash: {"command":"make deploy"}`},
		{"ask Bash(make *); ask Bash(git push *)", "make deploy", `Bash: {"command":"make deploy"}`, `Bash: {"command":"make deploy"}`},
		{"ask Bash(sort *)", "sort --compress-program=x", `Bash: {"command":"sort --compress-program=x"}`, `Bash: {"command":"sort --compress-program=x"}`},
		{"ask Bash(git push *)", "git push origin", "Bash(git push *)", `Bash: {"command":"git push origin"}`},
		{"ask Bash(cp *)", "cp a b", "Bash(cp *)", "Bash(cp *)"},
		{"ask Bash(npm test)", "npm test", "Bash(npm test)", "Bash(npm test)"},
		{"ask Bash", "make", `Bash: {"command":"make"}`, `Bash: {"command":"make"}`},
		{"ask *", "ls", "Bash", "Bash"},
	} {
		for masked, want := range map[bool]string{true: row.sandbox, false: row.permit} {
			call := callOf(t, "Bash: "+row.command)
			call.Masked = masked
			j := rulesOf(t, row.rules).Judge(call)
			must.Equal(t, approval.Ask, j.Verdict, row.rules, row.command)
			must.Equal(t, want, j.Permits, row.rules, row.command, "in the sandbox:", masked)
		}
	}
}

// plainOptions are the options of programs that are not plain with all of their options, as
// their manuals have them: those without a value that run nothing, and all others.
var plainOptions = map[string]struct{ plain, other string }{
	"sort":          {"-b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -rn -2", "-k -t -o -S -T --compress-program=./evil --compress-program --files0-from=x --parallel=2 -o./x -rno -Sx --reverse -k1"},
	"rg":            {"-n -i -l -c -v -w -F -p -S -s -u -uu -L -H -N -o -q -U -x -nil", "-e -f -g -t -T -m -A -B -C -r -E -d -M -j -z --pre=./evil --pre --hostname-bin=./evil --search-zip -ne -nf./x -nz -g*.go --glob --regexp"},
	"tree":          {"-a -d -f -l -p -s -D -C -x -ad", "-o -L -P -I -H -T -R -o./x -ao --fromfile --filelimit -L1"},
	"diff":          {"-u -r -q -N -a -b -B -i -w -y -ru -3", "-l -F -I -x -X -S -D -L -W -U -C --paginate --to-file=x --label -ul -U3"},
	"file":          {"-b -i -k -L -N -0 -s -bi", "-m -f -F -e -P -C -z -Z --magic-file=x --files-from=x --compile -bm -bz"},
	"find .":        {"-type -name -maxdepth -print -ls -size -newer ! -o", "-exec -execdir -ok -okdir -delete -fprint -fprintf -fls -fprint0 -files0-from"},
	"sed -n 1p":     {"-", "-e -f -i -s -E -n --expression=1e --file=x -i.bak --in-place -- -z"},
	"git grep":      {"-n -i -l -c -v -w -E -F -P -q -I -ni --cached", "-e -f -A -B -C -m -O --open-files-in-pager=./evil --open-files-in-pager --textconv -O./evil -ne --and --not"},
	"git log":       {"-p -s -b -w -u -5 --oneline --stat --graph --all --name-only --no-merges --", "-n -S -G -L -O -l --output=x --output --ext-diff --textconv --format=%G? --show-signature --author --grep --since -pO"},
	"git diff":      {"-p -s -b -w --stat --cached --staged --name-only --", "-U -S -G -O -M -C --output=x --ext-diff --textconv --no-index --word-diff-regex -pU"},
	"git show":      {"-p -s --stat --name-only --", "-S -O --output=x --ext-diff --textconv --show-signature --format=%G?"},
	"git blame":     {"-b -c -e -f -l -n -s -t -w -ns", "-L -S -M -C --contents --contents=x --ignore-revs-file=x"},
	"git add":       {"-A -n -u -v -N -nv --all", "-p -i -e -f --patch --interactive --edit --pathspec-from-file=x --chmod=+x -Ae"},
	"git branch":    {"-a -r -v -av --list --show-current", "-d -D -m -M -c -C -f -u -t --edit-description --edit-desc --set-upstream-to --sort"},
	"git status":    {"-s -b -u -v -z -sb --short --porcelain", "--ignore-submodules --column --untracked-files --no-ahead-behind=x -x"},
	"git shortlog":  {"-e -n -s -ns --all", "-w -c --exec --format --group --since"},
	"git ls-files":  {"-c -d -m -o -s --others --modified", "-x -X --exclude --exclude-from=x --with-tree=x --format"},
	"git rev-parse": {"-q --show-toplevel --abbrev-ref --short --all", "--parseopt --sq-quote --default --prefix --path-format"},
}

// However options, values and -- are arranged, a rule with * allows no command with an option
// that is not known to run nothing.
func TestNoArrangementOfOptionsIsAllowed(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	oneOf := func(words []string) string { return words[random.IntN(len(words))] }
	programs := make([]string, 0, len(plainOptions))
	for program := range plainOptions {
		programs = append(programs, program)
	}
	slices.Sort(programs)
	allowed := 0
	for range 10_000 {
		program := oneOf(programs)
		options := plainOptions[program]
		plain, other := strings.Fields(options.plain), strings.Fields(options.other)
		words, isPlain := []string{program}, true
		for range 1 + random.IntN(5) {
			switch random.IntN(6) {
			case 0, 1:
				words = append(words, oneOf(plain))
			case 2:
				words, isPlain = append(words, oneOf(other)), false
			case 3:
				if strings.HasPrefix(program, "git ") {
					words = append(words, "--")
				}
			default:
				words = append(words, oneOf([]string{"a", "src/b.go", "x=y", "'two words'", "5", "-", "''"}))
			}
		}
		command := strings.Join(words, " ")
		if random.IntN(4) == 0 {
			command = "ls && " + command
		}
		call := callOf(t, "Bash: "+command)
		call.Masked = random.IntN(2) == 0
		first, _, _ := strings.Cut(program, " ")
		rules := approval.ToolRules{Allow: []string{"Bash(ls *)", oneOf([]string{"Bash(" + program + " *)", "Bash(" + first + " *)", "Bash(" + first + ":*)"})}}
		verdict, _ := verdictOf(rules, call)
		if isPlain && verdict == approval.Allow {
			allowed++
		}
		if !isPlain && verdict == approval.Allow {
			t.Fatalf("%v allow %q (in the sandbox: %t)", rules.Allow, command, call.Masked)
		}
		guarded := approval.ToolRules{Allow: []string{"Bash"}, Ask: []string{"Bash(whoami *)"}}
		if verdict, _ := verdictOf(guarded, call); !isPlain && verdict == approval.Allow {
			t.Fatalf("%q is allowed although it may run another program", command)
		}
	}
	if allowed < 500 {
		t.Errorf("only %d plain commands were allowed", allowed)
	}
}
