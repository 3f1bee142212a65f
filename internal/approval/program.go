package approval

import (
	"path"
	"slices"
	"strings"

	"ringback/internal/lazy"
)

// simpleCommand is a program with its arguments, as words without quotes.
type simpleCommand struct{ words []string }

// text returns the words, joined by spaces.
func (c simpleCommand) text() string { return strings.Join(c.words, " ") }

// name returns the program's name without its directory.
func (c simpleCommand) name() string { return path.Base(c.words[0]) }

// byName returns the command with its program reduced to its lower-case name, as
// case-insensitive file systems know it.
func (c simpleCommand) byName() simpleCommand {
	return simpleCommand{slices.Concat([]string{strings.ToLower(c.name())}, c.words[1:])}
}

// isRelative reports whether the program is named by a path relative to the working
// directory.
func (c simpleCommand) isRelative() bool {
	return strings.Contains(c.words[0], "/") && !path.IsAbs(c.words[0])
}

// isPlain reports whether a command's words show all that it does: it is a known program in
// a form in which it runs no other program and reads no configuration that could name one.
// Unknown programs are not plain. Forms of git are only plain in a repository that names no
// programs.
func (c simpleCommand) isPlain() bool {
	name := c.name()
	if at := c.words[0]; at != name && at != "/bin/"+name && at != "/usr/bin/"+name {
		return false // Claude may have written it
	}
	f, known := plainPrograms[name]
	return known && f(c.words[1:])
}

// form reports whether a program with these arguments is plain.
type form func(args []string) bool

// plainPrograms are the known programs, with their plain forms. The list may be short: a
// missing program is asked for, or allowed by an exact rule.
var plainPrograms = func() map[string]form {
	known := map[string]form{
		"command": func(args []string) bool { return len(args) == 2 && args[0] == "-v" },
		"diff": options(
			"abBcdiNpqrstTuwyEZU:C:",
			"brief color ignore-all-space ignore-blank-lines ignore-case ignore-space-change recursive report-identical-files side-by-side text unified",
		),
		"file": options("bikLN0s", "brief mime mime-type mime-encoding dereference"),
		"find": isPlainFind,
		"git":  isPlainGit,
		"rg": options("acFHhIilLNnopPqsSuUvVwxA:B:C:e:g:m:t:T:", "after-context before-context case-sensitive column context count count-matches files files-with-matches files-without-match "+
			"fixed-strings glob heading hidden iglob ignore-case invert-match json line-number max-count max-depth multiline no-heading no-ignore no-line-number only-matching "+
			"pcre2 pretty quiet regexp smart-case sort stats type type-list type-not word-regexp"),
		"sed": func(args []string) bool {
			return len(args) >= 2 && args[0] == "-n" && printedLines().MatchString(args[1]) && options("", "")(args[2:])
		},
		"sort": options("bcCdfghiMmnRrsuVzk:t:o:", "check dictionary-order field-separator general-numeric-sort human-numeric-sort ignore-case key month-sort numeric-sort output reverse "+
			"stable unique version-sort zero-terminated"),
		"tree": options("aCdDfFghilnpQrstuvxIPL:", "dirsfirst gitignore noreport prune"),
	}
	for name := range setOf(`arch b2sum base32 base64 basename cat cd chgrp chmod chown cksum cmp comm cp cut date dd df dirname du echo egrep expand expr factor false fgrep fmt fold
		free grep groups head hexdump hostname id join jq kill link ln ls md5sum mkdir mktemp mv nl nproc numfmt od paste
		pathchk printenv ps pwd readlink realpath rev rm rmdir seq
		sha1sum sha224sum sha256sum sha384sum sha512sum shuf sleep stat strings sum sync tac tail tee touch tr true truncate
		tsort tty type umask uname unexpand uniq unlink uptime
		wc which who whoami xxd yes :`) {
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

// options returns the form of a program that is plain with certain options and any
// operands. letters are short options; one followed by a colon takes the rest of its word
// as a value. names are long options, in full.
func options(letters, names string) form {
	long := setOf(names)
	return func(args []string) bool {
		for _, word := range args {
			name, isLong := strings.CutPrefix(word, "--")
			name, _, _ = strings.Cut(name, "=")
			switch {
			case word == "--":
				return true
			case isLong && !long[name], !isLong && len(word) > 1 && word[0] == '-' && !areLetters(word[1:], letters):
				return false
			}
		}
		return true
	}
}

// areLetters reports whether combined short options are all in letters. Digits always are.
func areLetters(together, letters string) bool {
	for i := range len(together) {
		if '0' <= together[i] && together[i] <= '9' {
			continue
		}
		at := strings.IndexByte(letters, together[i])
		if at < 0 || together[i] == ':' {
			return false
		}
		if at+1 < len(letters) && letters[at+1] == ':' {
			return true
		}
	}
	return true
}

var findTests = setOf(`-H -L -P -O0 -O1 -O2 -O3 -a -and -amin -anewer -atime -cmin -cnewer -ctime -daystart -depth
	-empty -executable -false -follow -gid -group -iname -inum -ipath -iregex -links -ls -maxdepth -mindepth -mmin -mount
	-mtime -name -newer -nogroup -not -nouser -o -or -path -perm -print -print0 -printf -prune -quit -readable -regex
	-regextype -samefile -size -true -type -uid -user -writable -xdev`)

// isPlainFind reports whether find only looks at names and attributes.
func isPlainFind(args []string) bool {
	return !slices.ContainsFunc(args, func(word string) bool { return strings.HasPrefix(word, "-") && !findTests[word] })
}

// gitForms are subcommands that show something, or that stage changes.
var gitForms = func() map[string]form {
	const limits = " all abbrev-commit after author before branches cached date decorate first-parent follow format grep graph merge-base merges name-only name-status no-color " +
		"no-decorate no-ext-diff no-merges no-patch no-textconv numstat oneline patch pretty remotes reverse shortstat since staged stat summary tags unified until "
	log := options("bpwsn:U:G:S:L:M", limits+"color word-diff ignore-space-change ignore-all-space ignore-blank-lines diff-filter")
	return map[string]form{
		"add":      options("AnuvN", "all dry-run update verbose intent-to-add"),
		"branch":   options("arv", "all list remotes show-current verbose"),
		"blame":    options("bceflnstwL:", "date porcelain line-porcelain"),
		"describe": options("", "all tags always long dirty abbrev match"), "diff": log, "log": log, "show": log,
		"grep":     options("cEFGHhIilLnPqvwe:A:B:C:", "cached count files-with-matches ignore-case line-number untracked word-regexp"),
		"ls-files": options("cdikmostuvz", "cached deleted exclude-standard full-name modified others stage"),
		"ls-tree":  options("drtlz", "name-only full-tree long"), "shortlog": options("ensw", "all since until"),
		"rev-parse": options("q", "abbrev-ref git-dir is-inside-work-tree short show-toplevel verify"),
		"rev-list":  options("n:", "count all max-count"),
		"status":    options("bsuvz", "branch ignored long no-renames porcelain short show-stash untracked-files"),
		"version":   options("", ""),
	}
}()

// isPlainGit reports whether git only shows or stages something, without options that run
// other programs. %G checks a signature with another program.
func isPlainGit(args []string) bool {
	if len(args) > 0 && args[0] == "--no-pager" {
		args = args[1:]
	}
	if len(args) == 0 || slices.ContainsFunc(args, func(word string) bool {
		return strings.Contains(word, "%G") || strings.Contains(word, "show-signature")
	}) {
		return false
	}
	f, known := gitForms[args[0]]
	return known && f(args[1:])
}

// setOf returns the set of the words of a text.
func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}
