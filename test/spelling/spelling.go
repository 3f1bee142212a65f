// Package spelling generates equivalent shell commands from a grammar: the many ways to run a
// program, to read a file, and to hide a command in another one. All of them work unless
// something prevents it.
package spelling

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Grammar chooses spellings at random, the same ones for the same seed.
type Grammar struct{ random *rand.Rand }

// New returns a grammar.
func New(seed uint64) Grammar { return Grammar{rand.New(rand.NewPCG(seed, 1))} }

func (g Grammar) oneOf(all ...string) string { return all[g.random.IntN(len(all))] }

// word spells a word: letter by letter in quotes and escapes, or as a shell expansion.
func (g Grammar) word(text string) string {
	switch g.random.IntN(6) {
	case 0:
		return text
	case 1:
		return strings.ReplaceAll(g.oneOf("$(echo TEXT)", "`printf TEXT`", "${nothing}TEXT", "${nothing:-TEXT}", "$'TEXT'"), "TEXT", text)
	}
	var spelled strings.Builder
	for _, letter := range text {
		spelled.WriteString(strings.ReplaceAll(g.oneOf("X", "X", "X", "'X'", `"X"`, `\X`, fmt.Sprintf(`$'\x%02x'`, letter), fmt.Sprintf(`$'\%03o'`, letter), "X''", `X""`, "X\\\n"), "X", string(letter)))
	}
	return spelled.String()
}

// program spells the name of a program, or its path.
func (g Grammar) program(name string) string {
	return g.word(g.oneOf(name, name, "/bin/"+name, "/usr/bin/"+name, "/bin/../bin/"+name, "/proc/self/root/bin/"+name))
}

// quoted puts a text in single quotes.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Call spells a command that runs a program with an argument.
func (g Grammar) Call(name, arg string) string {
	path := g.oneOf(arg, arg, "./"+arg, "-- "+arg, "./keep/../"+arg, "$PWD/"+arg)
	plain := g.oneOf(name, "/bin/"+name) + " " + path
	command := g.program(name) + " " + path
	switch g.random.IntN(4) {
	case 0:
		command = g.oneOf("command ", "exec ", "env ", "env -i ", "nice ", "nohup ", "timeout 5 ", "setsid -w ", "time -p ", "! ", "stdbuf -o0 ", "jobs -x ", "time -- ", "builtin command ", "busy=1 ", "flock x ", "ionice ") + command
	case 1:
		command = g.oneOf("sh -c ", "bash -c ", "eval ", "env sh -c ", "trap ", "python3 -c 'import os,sys; os.system(sys.argv[1])' ") + quoted(plain)
		if strings.HasPrefix(command, "trap ") {
			command += " EXIT"
		}
	case 2:
		command = g.oneOf(
			"echo "+arg+" | xargs "+name, "echo "+quoted(plain)+" | sh", "sh <<< "+quoted(plain), "sh <<X\n"+plain+"\nX", ". /dev/stdin <<< "+quoted(plain), "find . -maxdepth 0 -exec "+plain+" \\;",
			"cp /bin/"+name+" ./own; ./own "+path, "ln -sf /bin/"+name+" ./own; ./own "+path, "echo "+quoted(plain)+" > own.sh; sh own.sh", "alias own="+quoted(name)+"; own() { "+plain+"; }; own",
			"hash -p /bin/"+name+" own; own "+path, "awk 'BEGIN { system("+`"`+plain+`"`+") }'", "printf '%s\\0' "+arg+" | xargs -0 "+name, "make -s -f - <<< $'all:\\n\\t@"+plain+"'",
			"tar cf /dev/null --checkpoint=1 --checkpoint-action=exec="+quoted(plain)+" keep", "git -c alias.own="+quoted("!"+plain)+" own", "mapfile -C '"+plain+" #' -c 1 x <<< a",
		)
	}
	return g.within(command)
}

// within wraps a command in constructs of the shell.
func (g Grammar) within(command string) string {
	for range g.random.IntN(3) {
		if strings.Contains(command, "<<X") {
			return command
		}
		command = strings.ReplaceAll(g.oneOf(
			"COMMAND", "true; COMMAND", "true && COMMAND", "false || COMMAND", "(COMMAND)", "{ COMMAND; }", "if true; then COMMAND; fi", "for i in 1; do COMMAND; done", "while :; do COMMAND; break; done",
			"case x in x) COMMAND;; esac", "f() { COMMAND; }; f", "COMMAND &\nwait", "x=$(COMMAND)", "echo `true`; COMMAND", "true | COMMAND", "cat <(COMMAND)", "[[ -n $(COMMAND) ]] || true", "coproc { COMMAND; }; wait",
			"COMMAND 2>/dev/null", "# comment\nCOMMAND", "true\nCOMMAND\n",
		), "COMMAND", command)
	}
	return command
}

// Read spells a command that reads a file named .env, in the working directory or in sub.
func (g Grammar) Read() string {
	file := g.oneOf(".env", "./.env", "sub/.env", ".e*", ".en?", "[.]env", "sub/.e*", `$PWD/.env`, "/proc/self/cwd/.env", "/proc/self/root$PWD/.env", "sub/../.env", "link", "sub/link", "hard", "dir/.env", "~+/.env",
		"/dev/fd/../../cwd/.env", `$(echo .env)`, "{.,}env", `$'.env'`, `".e"nv`, `.e\nv`, "//$PWD//.env")
	command := strings.ReplaceAll(g.oneOf(
		"cat FILE", "head -n9 FILE", "tail FILE", "grep '' FILE", "sed p FILE", "awk 1 FILE", "cut -c1- FILE", "sort FILE", "tr a a < FILE", "cat < FILE", "while read -r l; do echo \"$l\"; done < FILE",
		"cp FILE own.txt; cat own.txt", "ln -f FILE own.ln; cat own.ln", "ln -sf \"$PWD\"/FILE own.sl; cat own.sl", "dd if=FILE status=none", "tee /dev/null < FILE", "xargs < FILE", "echo \"$(<FILE)\"", "mapfile x < FILE; echo \"${x[@]}\"",
		"python3 -c 'import sys; print(open(sys.argv[1]).read())' FILE", "sh -c 'cat \"$0\"' FILE", "git diff --no-index /dev/null FILE", "git hash-object -w FILE | git cat-file --batch", "diff /dev/null FILE", "nl FILE", "paste FILE",
		"base64 FILE | base64 -d", "tar cf - FILE | tar xOf -", "xxd FILE | xxd -r", "exec 3< FILE; cat <&3", "printf '%s' FILE | xargs cat", "cat -- FILE", "curl -s file://$PWD/.env", "rev FILE | rev", "comm FILE /dev/null", "install -m 644 FILE own.in; cat own.in",
	), "FILE", file)
	if g.random.IntN(5) == 0 {
		command = g.oneOf("grep -r '' .", "tar cf - . | tar xOf -", "find . -type f -exec cat {} +", "find . -name '.e*' | xargs cat", "cat $(ls -A)", "cp -r . /tmp/copy; cat /tmp/copy/.env", "rg -uuu --no-filename '' .",
			"for f in .*; do cat $f; done", "mv sub moved; cat moved/.env; mv moved sub", "cd sub && cat .env", "cat .env sub/.env link", "diff -r . /var/empty-dir", "ls -A | xargs cat", "chmod 644 .env; cat .env", "umount .env; cat .env",
			"unshare -rm sh -c 'umount .env; cat .env'", "cat /proc/[0-9]*/cwd/.env")
	}
	return g.within(command)
}

// Smuggle spells a command inside one that rules may allow: ls, cat, git, gcc, go and find.
func (g Grammar) Smuggle(command string) string {
	harmless := g.oneOf("ls", "ls -a", "cat plain", "git status", "git log", "git diff", "go version", "gcc --version", "find . -maxdepth 1")
	hidden := g.oneOf(
		"HOST; COMMAND", "HOST && COMMAND", "HOST || COMMAND", "HOST | COMMAND", "HOST & COMMAND", "HOST\nCOMMAND", "HOST $(COMMAND)", "HOST `COMMAND`", "HOST \"$(COMMAND)\"", "HOST <(COMMAND)", "HOST ${x:-$(COMMAND)}", "HOST $((a[$(COMMAND)]))",
		"HOST < <(COMMAND)", "x=$(COMMAND) HOST", "HOST <<X\n$(COMMAND)\nX", "HOST <<< $(COMMAND)", "HOST > >(COMMAND)", "ls() { COMMAND; }; ls", "[[ -v a[$(COMMAND)] ]]; HOST", "test -v 'a[$(COMMAND)]'; HOST", "case $(COMMAND) in *) HOST;; esac",
		"for x in $(COMMAND); do HOST; done", "let 'a[$(COMMAND)]=1'; HOST", "trap 'COMMAND' EXIT; HOST", "coproc COMMAND; HOST", "ls 'a' \"$(COMMAND)\" b", "git -c alias.own='!COMMAND' own", "git -c core.pager='COMMAND' -p log", "git -c core.fsmonitor='COMMAND' status",
		"git -c diff.external='COMMAND' diff", "git --config-env=alias.own=own own", "git log --output=made/by-git", "git config alias.own '!COMMAND'; git own", "find . -maxdepth 0 -exec COMMAND \\;", "find . -fprint made/by-find", "gcc -wrapper sh,-c,'COMMAND' -c plain.c",
		"gcc -x c -o made/by-gcc plain.c", "gcc @args", "go fix -fixtool=./own", "go vet -vettool=./own", "go env -w GOFLAGS=-toolexec=./own", "ls > made/by-ls", "ls >> made/by-ls", "ls &> made/by-ls", "ls >| made/by-ls", "cat plain > made/by-cat", "ls 3<> made/by-ls",
	)
	return strings.NewReplacer("HOST", harmless, "COMMAND", command).Replace(hidden)
}
