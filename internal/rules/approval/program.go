package approval

import (
	"path"
	"slices"
	"strings"

	"ringback/internal/text/lazy"
)

// simpleCommand is a program with its arguments, as words without quotes.
type simpleCommand struct {
	words []string
	// fed is true if a pipe, a file or a here-string feeds it, plain if its words show all that
	// it does, and answered if the author of a rule answers for what it runs.
	fed, plain, answered bool
}

func (c simpleCommand) text() string { return strings.Join(c.words, " ") }

func (c simpleCommand) name() string { return path.Base(c.words[0]) }

// byName returns the command with its program reduced to its lower-case name, as
// case-insensitive file systems know it.
func (c simpleCommand) byName() simpleCommand {
	return simpleCommand{words: slices.Concat([]string{strings.ToLower(c.name())}, c.words[1:])}
}

func (c simpleCommand) isRelative() bool {
	return strings.Contains(c.words[0], "/") && !path.IsAbs(c.words[0])
}

// isKnown reports whether it is known how the program runs no other one.
func (c simpleCommand) isKnown() bool {
	name := c.name()
	if at := c.words[0]; at != name && at != "/bin/"+name && at != "/usr/bin/"+name {
		return false // Claude may have written it
	}
	return plainPrograms[c.program()] != nil
}

// program returns the name of the program, and of the subcommand of git.
func (c simpleCommand) program() string {
	if name := c.name(); name != "git" || len(c.words) < 2 {
		return name
	}
	return "git " + c.words[1]
}

// isPlain reports whether a command's words show all that it does: it is a known program in
// a form in which it runs no other program and reads no configuration that could name one.
// Forms of git are only plain in a repository that names no programs.
func (c simpleCommand) isPlain() bool {
	named := 1
	if c.name() == "git" {
		if len(c.words) > 2 && c.words[1] == "--no-pager" {
			c.words = slices.Concat(c.words[:1], c.words[2:])
		}
		named = min(2, len(c.words))
	}
	return c.isKnown() && plainPrograms[c.program()](c.words[named:])
}

type form func(args []string) bool

// safeLetters are the short options of programs that have others with which they run a
// program, write a file or follow a list in a file. None of these takes a value.
var safeLetters = map[string]string{
	"b2sum": "btz", "cksum": "z", "md5sum": "btz", "sha1sum": "btz", "sha224sum": "btz", "sha256sum": "btz",
	"sha384sum": "btz", "sha512sum": "btz",
	"diff": "abBcdiNpqrstTuwyEZ", "du": "0abchHklLmPsSx", "file": "bikLN0s", "wc": "clLmw",
	"rg": "acFHhIilLNnopPqsSuUvVwx", "sort": "bcCdfghiMmnRrsuVz", "tree": "aCdDfFghilnpQrstuvx",
	"git add": "AnuvN", "git blame": "bceflnstw", "git branch": "arv", "git describe": "",
	"git diff": "bpswu", "git grep": "cEFGHhIilLnPqvw",
	"git log": "bpswu", "git ls-files": "cdikmostuvz", "git ls-tree": "drtlz",
	"git rev-list": "", "git rev-parse": "q", "git shortlog": "ens",
	"git show": "bpswu", "git status": "bsuvz", "git version": "",
}

// safeNames are long options without values that have no other meaning to any of the
// subcommands of git above, not even as abbreviations.
var safeNames = setOf(`--abbrev-ref --all --cached --decorate --exclude-standard --graph --list --modified --name-only --name-status
	--no-color --no-merges --numstat --oneline --others --porcelain --short --shortstat --show-current --show-toplevel --staged --stat`)

// plainPrograms are the known programs, with their plain forms. The list may be short: a
// missing program is asked for, or allowed by an exact rule.
var plainPrograms = func() map[string]form {
	known := map[string]form{
		"command": func(args []string) bool { return len(args) == 2 && args[0] == "-v" },
		"find":    onlyOptions(func(word string) bool { return findTests[word] }),
		"sed": func(args []string) bool {
			return len(args) >= 2 && args[0] == "-n" && printedLines().MatchString(args[1]) && onlyOptions(nil)(args[2:])
		},
	}
	for program, letters := range safeLetters {
		isGit := strings.HasPrefix(program, "git ")
		known[program] = onlyOptions(func(word string) bool {
			return strings.Trim(word[1:], letters+"0123456789") == "" || isGit && (word == "--" || safeNames[word])
		})
	}
	for name := range setOf(`arch base32 base64 basename cat cd chgrp chmod chown cmp comm cp cut date dd df dirname echo egrep expand expr factor false fgrep fmt fold
		free grep groups head hexdump hostname id join kill link ln ls mkdir mktemp mv nl nproc numfmt od paste
		pathchk printenv ps pwd readlink realpath rev rm rmdir seq
		shuf sleep stat strings sum sync tac tail tee touch tr true truncate
		tsort tty type umask uname unexpand uniq unlink uptime
		which who whoami xxd yes :`) {
		known[name] = func([]string) bool { return true }
	}
	for name := range setOf("printf test [ wait exit return break continue") {
		known[name] = computesNothing
	}
	return known
}()

var printedLines = lazy.Regexp(`^[0-9]+(,([0-9]+|\$))?p$`)

// computesNothing reports whether a shell builtin sets no variable and evaluates no
// arithmetic, which would run commands in an array index.
func computesNothing(args []string) bool {
	return !slices.ContainsFunc(args, func(word string) bool {
		return strings.HasPrefix(word, "-v") || word == "-R" || strings.HasPrefix(word, "-p") || strings.Contains(word, "[")
	})
}

// onlyOptions returns the form of a program that is plain with certain options and any
// operands. Each word that begins with a hyphen must be one of these options, wherever it
// stands: none of them takes a value, so that no word can be the value of another.
func onlyOptions(safe func(word string) bool) form {
	return func(args []string) bool {
		return !slices.ContainsFunc(args, func(word string) bool {
			return strings.HasPrefix(word, "-") && word != "-" && (safe == nil || !safe(word))
		})
	}
}

var findTests = setOf(`-H -L -P -O0 -O1 -O2 -O3 -a -and -amin -anewer -atime -cmin -cnewer -ctime -daystart -depth
	-empty -executable -false -follow -gid -group -iname -inum -ipath -iregex -links -ls -maxdepth -mindepth -mmin -mount
	-mtime -name -newer -nogroup -not -nouser -o -or -path -perm -print -print0 -printf -prune -quit -readable -regex
	-regextype -samefile -size -true -type -uid -user -writable -xdev`)

func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}
