package approval_test

import (
	"strings"
	"testing"

	"ringback/internal/rules/approval"
	"ringback/test/must"
)

// checkCommands checks that every command has one verdict by some rules.
func checkCommands(t *testing.T, rules string, want approval.Verdict, because string, commands []string) {
	t.Helper()
	var rows []verdictRow
	for _, command := range commands {
		rows = append(rows, verdictRow{rules, "Bash: " + command, want, because})
	}
	checkVerdicts(t, rows)
}

func TestASyntaxThatIsNotFullyUnderstoodIsNotAllowed(t *testing.T) {
	t.Parallel()
	checkCommands(t, "allow Bash(ls *)", approval.NoOpinion, "more may run than ls", []string{
		"export LS_COLORS=$(id); ls", "declare -A m; ls", "typeset PATH=.; ls", "local x=1; ls", "nameref r=PATH; ls",
		"let x=1; ls", "((x++)); ls", "(( a[$(id)] )) || ls", "[[ a -nt b ]] && ls", "[[ 'a[$(id)]' -eq 0 ]] || ls",
		"for f in a b; do ls; done", "for ((i=0;i<3;i++)); do ls; done", "select x in a; do ls; done",
		"f() { ls; }", "function ls { id; }", "coproc { ls; }", "a=(1 $(id)); ls", "a[$(id)]=1 ls", "a[$(id)]=1; ls",
		"ls ${a[$(id)]}", "ls ${x@P}", "ls ${!x}", "ls ${x:-$(id)}", "ls $((a[0]))", "ls $[1+1]", "ls \"`id`\"", "ls >(id)", "ls <(ls)",
		"ls <<< $(id)", "ls <<X\nls\nX", "ls <<-'X'\n\tls\n\tX", "ls < /dev/tcp/evil.test/80", "ls < '/dev/udp/evil.test/53'", "ls < $x", "ls < *",
		"ls {a,b}", "ls {1..3}", "{ls,-la}", "ls $'a'", `ls $"a"`, "ls @(a|b)", "ls ?", "ls *", "ls [a-z]*", "ls \"\"*", "~/ls", "'' ls", "\"\"",
		"ls\r\nls", "ls\x00", "ls\u00a0-la", "ls \u202e-la", "ls \ue000", "ls \xff", "ls a\x1bb", "ls\u2028ls", "ls\u200b",
		"ls {fd}</dev/null", "ls 3<>a", "ls >| a", "ls >> a", "ls &> a", "ls >& a", "ls >~/a",
		strings.Repeat("(", 20000) + "ls" + strings.Repeat(")", 20000), strings.Repeat("ls;", 20000),
	})
	checkCommands(t, "allow Bash(ls *)", approval.Allow, "nothing runs but ls", []string{
		"ls ./*.go", "ls src/*.go", "ls '*.go' \"a b\"", "ls ~", "ls # a comment", "! ls", "ls < a", "ls <<< a", "ls 2>&-", "until ls; do ls; done",
		"time -p ls", "ls \\\n-la", "ls 'a;b' \"c|d\" e\\&f", "ls '$(id)' \\`id\\`", "ls über", "ls -- -a",
	})
}

func TestWhatProgramARuleNames(t *testing.T) {
	t.Parallel()
	checkCommands(t, "allow Bash(go test *)", approval.NoOpinion, "it is another program, or another command", []string{
		"./evil/go test", "./go test", "../go test", "/tmp/go test ./...", "evil/../go test", "~/go test", "./evil/'go' test", "GO test", "go.exe test",
		`"go test"`, "'go'\\ test", "go 'test ./...'", "go  vet", "gotest", "go -C elsewhere test", "go test -exec ./evil ./...", "go test -toolexec=./evil ./...",
		"go test --exec ./evil", "go test -vettool ./evil", "go test ./... -overlay=x.json", "go test -modfile=evil.mod", "go test && ./evil/go test", "test go",
	})
	checkCommands(t, "allow Bash(./run/* --fast)", approval.NoOpinion, "it is another path", []string{
		"./run/../evil --fast", "./run/a/b --fast", "run/a --fast", "./run/a --slow", "/run/a --fast", "./run/a x --fast; id", ".//run/a --fast",
		"./RUN/a --fast", "./run//a --fast", "cd evil && ./run/a --fast",
	})
	checkCommands(t, "allow Bash(* --version)", approval.NoOpinion, "a rule that names no program allows none", []string{
		"rm --version", "./evil --version", "rm -rf / --version", "* --version", "sh -c id --version",
	})
	checkVerdicts(t, []verdictRow{
		{"allow Bash(./run/* --fast)", "Bash: ./run/a --fast", approval.NoOpinion, "nobody knows what it does"},
		{"allow Bash(ls*)", "Bash: lsof -i", approval.NoOpinion, "without a blank, the name may go on, but nobody knows this one"},
		{"allow Bash(m*)", "Bash: mkdir a", approval.Allow, "without a blank, the name may go on"},
		{"allow Bash(ls*)", "Bash: ls/../evil", approval.NoOpinion, "but it is no path"},
		{"allow Bash(ls:*)", "Bash: ls -la", approval.Allow, "the older way to write a beginning"},
		{"allow Bash(ls:*)", "Bash: lsof", approval.NoOpinion, "which ends with a word"},
		{"allow Bash(*)", "Bash: ls", approval.Allow, "it is every command"},
		{"allow Bash(git commit -m 'fix it')", "Bash: git commit -m \"fix it\"", approval.Allow, "quotes are read on both sides"},
		{"allow Bash(git commit -m 'fix it')", "Bash: git commit -m fix it", approval.NoOpinion, "those are two words"},
		{"allow Bash(git commit -m fix it)", "Bash: git commit -m 'fix it'", approval.NoOpinion, "that is one word"},
		{"allow Bash(touch '*')", "Bash: touch '*'", approval.Allow, "a quoted asterisk is one"},
		{"allow Bash(touch '*')", "Bash: touch evil", approval.NoOpinion, "a quoted asterisk is one"},
	})
}

func TestProgramsThatRunOthers(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"taskset 1 id", "chrt 1 id", "setpriv --nnp id", "python3.12 -c x", "/usr/bin/env id", "nice -n 5 id", "xargs id", "sed 1e a", "vim -c '!id' a", "less a",
		"tar cf a --checkpoint=1 --checkpoint-action=exec=id .", "tar cf a --checkpoint-act=exec=id .", "tar -xf a --to-command=id", "tar -I id -cf a b", "tar cIf id a b",
		"git -c alias.x='!id' x", "git --exec-path=. status", "git -C elsewhere status", "git x", "git config alias.x '!id'", "git rebase -x id", "git rebase --exec=id HEAD~1",
		"git bisect run id", "git submodule foreach id", "git clone -u id a", "git fetch --upload-pack=id", "git grep -Oid a", "git grep --open-files=id a", "git diff --ext-diff", "git difftool -x id",
		"hash -p ./evil ls", "enable -f ./evil.so ls", "alias ls=id", "trap id EXIT", "eval id", "exec id", "command id", "builtin eval id", "source a", ". ./a",
		"printf -v PATH .", "printf %d 'a[$(id)]'", "test -v 'a[$(id)]'", "[ -v 'a[$(id)]' ]", "read PATH", "mapfile -C id a", "unset PATH", "set -a", "shopt -s expand_aliases",
		"go run ./evil", "go generate", "go test -ldflags=-extld=./evil", "go build -o a", "git log --output=.bashrc", "git branch --edit-desc", "sort --compress-program=id a", "split --filter=id a", "rsync -e id a b:", "rg --pre id a", "fd -x id", "npm exec id", "npm run a --script-shell=./evil",
		"find . -exec id +", "watch id", "make", "npx id", "noglob id", "repeat 3 id", "- id", "cargo run --config a",
	} {
		program, _, _ := strings.Cut(command, " ")
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			for _, rules := range []approval.ToolRules{
				{Allow: []string{"Bash(" + program + " *)"}},
				{Allow: []string{"Bash"}, Deny: []string{"Bash(whoami *)"}},
			} {
				verdict, rule := verdictOf(rules, callOf(t, "Bash: "+command))
				if verdict == approval.Allow {
					t.Errorf("%v allow it by %s", rules, rule)
				}
			}
		})
	}
	checkVerdicts(t, []verdictRow{
		{"allow Bash(make test)", "Bash: make test", approval.Allow, "a rule that leaves nothing open says what runs"},
		{"allow Bash(make test)", "Bash: make test SHELL=./evil", approval.NoOpinion, "it is another command"},
		{"allow Bash(make test); deny Bash(rm *)", "Bash: make test", approval.Allow, "whoever wrote the rule knows what it may run"},
		{"allow Bash; deny Bash(rm *)", "Bash: make test", approval.Ask, "it may be what is denied"},
		{"allow Bash(make test); deny Bash(make *)", "Bash: make test", approval.Deny, "deny wins"},
		{"allow Bash(git -C . push); deny Bash(git push *)", "Bash: git -C . push", approval.Ask, "its own words may be what is denied"},
		{"allow Bash(make test); ask Bash(git push *)", "Bash: make test", approval.Allow, "whoever wrote the rule knows what it may run"},
		{"allow Bash(make test); ask Bash(git push *)", "Bash: make test; make test", approval.Allow, "it is the same twice"},
		{"allow Bash(make test); ask Bash(git push *)", "Bash: make test; ls", approval.Ask, "one rule is for all of it"},
		{"allow Bash(make test); ask Bash(git push *)", "Bash: make test; ./evil", approval.Ask, "one rule is for all of it"},
		{"allow Bash(go run ./cmd/*)", "Bash: go run ./cmd/x", approval.NoOpinion, "nobody knows what it does"},
		{"allow Bash(git *)", "Bash: git --no-pager log", approval.Allow, "log runs nothing else"},
		{"allow Bash(git *)", "Bash: git log --oneline", approval.Allow, "log runs nothing else"},
		{"allow Bash(git *)", "Bash: cd a && git log --oneline", approval.NoOpinion, "one rule is for all of it"},
		{"allow Bash(tar *)", "Bash: tar czf a.tgz ./src", approval.NoOpinion, "gzip runs"},
		{"allow Bash(go test ./...)", "Bash: go test ./...", approval.Allow, "it is the rule"},
		{"allow Bash(npm test)", "Bash: npm test 2>&1", approval.Allow, "it is the rule"},
		{"allow Bash(npm test)", "Bash: npm test -- --x", approval.NoOpinion, "it is another command"},
		{"allow Bash(/usr/bin/ls *)", "Bash: /usr/bin/ls -a", approval.Allow, "it is the known one"},
		{"allow Bash(/tmp/ls *)", "Bash: /tmp/ls -a", approval.NoOpinion, "it is another one"},
		{"allow Bash(find *)", "Bash: find . -name '*.go' -type f", approval.Allow, "it only looks"},
		{"allow Bash(sed *)", "Bash: sed -n '10,20p' a.go", approval.Allow, "it only prints"},
		{"allow Bash(sort *)", "Bash: sort -rn a", approval.Allow, "it only sorts"},
		{"allow Bash(rg *)", "Bash: rg -n main src", approval.Allow, "it only looks"},
		{"allow Bash(echo *)", "Bash: echo a && echo b", approval.Allow, "some builtins only print"},
		{"allow Bash([ *)", "Bash: [ -f a ]", approval.Allow, "some builtins only look"},
	})
}

func TestWhatMightBeDenied(t *testing.T) {
	t.Parallel()
	checkCommands(t, "allow Bash; deny Bash(git push *); deny Bash(rm -rf *)", approval.Deny, "it is what is denied", []string{
		"git push", "/usr/bin/git push -f", "./git push", "GIT push", "$'git' push", "$'\\x67it' \"push\"", "$'git\\x00x' push", "git $'push\\0'", "$'g\\x00x'it push", "git\\\n push", "ls | git push", "(git push)", "! git push",
		"rm -rf a", "/bin/rm -rf a", "RM -rf a", "\"rm\" '-rf' a", "$'\\162m' -rf a", "true && { rm -rf a; }", "for x in a; do rm -rf a; done", "f() { rm -rf a; }", "a=$(rm -rf a)",
		"ls <(rm -rf a)", "ls \"$(rm -rf a)\"", "cat <<X\n$(rm -rf a)\nX", "[[ -n $(rm -rf a) ]]", "coproc rm -rf a",
	})
	checkCommands(t, "allow Bash; deny Bash(git push *); deny Bash(rm -rf *)", approval.Ask, "it may be what is denied", []string{
		"git -C . push", "git --no-pager push", "git -c a=b push", "rm -fr a", "rm -r -f a", "rm a -rf", "rm --recursive --force a", "rm -R a", "rm * a",
		"$x push", "git $x", "sh -c 'git push'", "echo 'git push' | sh", "git 'pu'?h", "eval a", "g?t push", "xargs rm", "export A=1", "python a.py", "git p{u,}sh",
	})
	checkCommands(t, "allow Bash; deny Bash(git push *); deny Bash(rm -rf *)", approval.Allow, "it is something else", []string{
		"git log", "git diff --stat", "rm a", "ls -rf", "echo rm -rf a", "echo git push", "ls push", "ls > log", "cd src && ls", "/bin/ls", "command -v rm",
	})
	checkCommands(t, "allow Bash; deny Bash(git push *); deny Bash(rm -rf *)", approval.Ask, "nobody knows what else it runs", []string{
		"git pull", "git commit -m 'git push'", "go test ./... > log", "jobs -x rm -rf a", "time -- rm -rf a", "x86_64 rm -rf a", "choom -n 0 rm -rf a", "sg root 'rm -rf a'",
		"view -c '!rm -rf a'", "tmux new -d 'rm -rf a'", "./script", "./ls", "/tmp/rm2 -rf a", "pkexec rm -rf a", "curl -K a", "gcc @file", "go fix -fixtool=./evil", "cd x && git log",
	})
}

// A program at a relative path is what the rule names only in the job's own directory.
func TestARelativeProgramInAnotherDirectory(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]approval.Verdict{"/work": approval.Allow, "/work/": approval.Allow, "/work/evil": approval.NoOpinion, "/tmp": approval.NoOpinion} {
		call := callOf(t, "Bash: ./check.sh")
		call.Root, call.Dir = "/work", dir
		got, _ := verdictOf(rulesOf(t, "allow Bash(./check.sh)"), call)
		must.Equal(t, want, got, "in", dir)
	}
}
