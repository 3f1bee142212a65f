package approval

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// simpleCommand is a program with its arguments, as words without their quotes.
type simpleCommand struct{ words []string }

// text is the words, joined by a space.
func (c simpleCommand) text() string { return strings.Join(c.words, " ") }

// name is the program's name without the path that leads to it.
func (c simpleCommand) name() string { return path.Base(c.words[0]) }

// byName is the command as if its program were called by its name alone, in small
// letters, as file systems know it that make no difference.
func (c simpleCommand) byName() simpleCommand {
	return simpleCommand{slices.Concat([]string{strings.ToLower(c.name())}, c.words[1:])}
}

// isRelative reports whether the program lies at a path from the working directory.
func (c simpleCommand) isRelative() bool {
	return strings.Contains(c.words[0], "/") && !path.IsAbs(c.words[0])
}

// shellChangers are the builtins of bash and zsh after which the next command may be
// another one than its name says, or that run a text as a command. Of words that are
// part of the language in zsh only, bash's parser does not know that they are.
var shellChangers = setOf(`. alias bind builtin caller command compgen complete compopt declare dirs disown enable eval exec export fc getopts
	hash help history let local mapfile popd pushd read readarray readonly set shift shopt source suspend trap typeset unalias unset
	- always autoload bindkey emulate end float foreach functions integer nocorrect noglob print private repeat rehash sched select setopt
	unfunction unhash unsetopt vared zcompile zle zmodload zparseopts zstyle chdir`)

// changesShell reports whether the command is a builtin that makes another command
// of those behind it, or runs a text.
func (c simpleCommand) changesShell() bool {
	switch c.words[0] {
	case "printf", "test", "[", "wait", "exit", "return", "break", "continue", "logout", "bye":
		// They may set a variable, or compute, which runs what stands in an index.
		return slices.ContainsFunc(c.words[1:], func(word string) bool {
			return strings.HasPrefix(word, "-v") || word == "-R" || strings.HasPrefix(word, "-p") || strings.Contains(word, "[")
		})
	}
	return shellChangers[c.words[0]]
}

// interpreters are programs that run what their arguments say, or what lies in a
// file: what a command with one of them does cannot be told from its text. Versions
// behind the name are left out: python3.12 is python.
var interpreters = setOf(`sh bash rbash zsh dash ash ksh mksh csh tcsh fish busybox toybox nu elvish
	env xargs sudo doas su runuser nohup nice ionice chrt taskset numactl prlimit time timeout parallel watch setsid stdbuf unbuffer flock chroot unshare
	nsenter systemd-run run-parts start-stop-daemon fakeroot proot bwrap firejail setarch linux32 linux64 strace ltrace gdb lldb valgrind perf script
	scriptreplay expect entr watchexec nodemon chronic ts retry dbus-run-session xvfb-run rlwrap setpriv capsh cgexec catchsegv ld.so ld-linux
	find awk gawk mawk nawk sed ed ex vi vim nvim emacs nano less more most
	python pypy perl ruby node nodejs php lua luajit tclsh wish deno bun bunx npx pnpx uvx uv pipx pwsh osascript java jshell groovy scala Rscript guile
	ghci runghc m4 bc dc gnuplot make gmake cmake ninja just task rake bundle tox nox poetry pipenv hatch
	ssh scp sftp docker podman nerdctl kubectl lxc-attach machinectl at batch crontab psql mysql sqlite sqlite3 redis-cli ftp telnet nc ncat socat`)

// risky says which arguments make a program run other programs.
type risky struct {
	// long are options without their dashes, short those of one letter, and
	// subcommands what follows the program's name.
	long, subcommands map[string]bool
	short             string
}

var riskyPrograms = map[string]risky{
	"tar":    {long: setOf("checkpoint-action to-command use-compress-program rsh-command info-script new-volume-script"), short: "IF"},
	"go":     {long: setOf("exec toolexec vettool overlay modfile C ldflags gcflags gccgoflags asmflags compiler o"), subcommands: setOf("run generate tool env")},
	"git":    {long: setOf("upload-pack receive-pack exec ext-diff textconv open-files-in-pager config config-env exec-path template extcmd tool remote git-dir work-tree strategy output edit-description")},
	"npm":    {long: setOf("script-shell prefix node-options globalconfig userconfig call shell editor viewer git"), short: "Cc", subcommands: setOf("exec x explore edit init create config set")},
	"pnpm":   {long: setOf("dir script-shell shell-mode"), short: "C", subcommands: setOf("exec dlx create config")},
	"yarn":   {long: setOf("cwd script-shell use-yarnrc"), subcommands: setOf("exec dlx create config node")},
	"cargo":  {long: setOf("config manifest-path"), short: "CZ", subcommands: setOf("run install")},
	"rg":     {long: setOf("pre hostname-bin")},
	"fd":     {long: setOf("exec exec-batch"), short: "xX"},
	"fdfind": {long: setOf("exec exec-batch"), short: "xX"},
	"sort":   {long: setOf("compress-program")},
	"split":  {long: setOf("filter")},
	"rsync":  {long: setOf("rsh rsync-path daemon config"), short: "e"},
	"wget":   {long: setOf("execute config use-askpass"), short: "e"},
	"curl":   {long: setOf("config"), short: "K"},
	"zip":    {long: setOf("unzip-command test"), short: "T"},
	"man":    {long: setOf("pager html preprocessor config-file"), short: "PHC"},
	"cpio":   {long: setOf("rsh-command")},
	"gcc":    {long: setOf("wrapper specs fplugin"), short: "B"},
	"clang":  {long: setOf("fplugin load config"), short: "B"},
	"tcpdump": {
		long: setOf("postrotate-command"), short: "z",
	},
	"install": {long: setOf("strip-program")},
	"pytest":  {long: setOf("rootdir confcutdir config-file"), short: "pc"},
	"jest":    {long: setOf("config globalSetup runner testRunner")},
	"eslint":  {long: setOf("config rulesdir plugin parser resolve-plugins-relative-to format"), short: "cf"},
}

// gitSubcommands are those of git's subcommands that run nothing that the repository
// does not name anyway. Another one may be an alias for any program.
var gitSubcommands = setOf(`add annotate blame branch cat-file check-ignore checkout cherry cherry-pick clean clone commit count-objects describe diff diff-tree
	fetch for-each-ref grep init log ls-files ls-remote ls-tree merge merge-base mv name-rev pull push range-diff rebase reflog remote reset restore
	rev-list rev-parse revert rm shortlog show show-ref stash status switch symbolic-ref tag version whatchanged worktree`)

// gitShort are the options of one letter by which a subcommand of git runs others.
var gitShort = map[string]string{"rebase": "x", "clone": "uc", "grep": "O", "ls-remote": "u", "archive": "o"}

var version = regexp.MustCompile(`[-.0-9]+$`)

// interprets reports whether the command's program runs what cannot be seen,
// whatever its arguments.
func (c simpleCommand) interprets() bool {
	name := c.byName().words[0]
	return interpreters[name] || interpreters[version.ReplaceAllString(name, "")] || strings.HasPrefix(name, "ld-linux")
}

// runsOthers reports whether the command runs other programs by its arguments, from
// the one at the given place on: those before were named by a rule.
func (c simpleCommand) runsOthers(from int) bool {
	if c.interprets() {
		return true
	}
	name := c.byName().words[0]
	r, ok := riskyPrograms[name]
	if !ok {
		r, ok = riskyPrograms[version.ReplaceAllString(name, "")]
	}
	if !ok {
		return false
	}
	if len(c.words) > 1 && from <= 1 && (r.subcommands[c.words[1]] || name == "git" && !gitSubcommands[c.words[1]] && c.words[1] != "--version") {
		return true
	}
	if name == "git" && len(c.words) > 1 {
		r.short = gitShort[c.words[1]]
	}
	for i := max(from, 1); i < len(c.words); i++ {
		if r.has(c.words[i]) || name == "tar" && i == 1 && strings.ContainsAny(c.words[i], r.short) {
			return true
		}
	}
	return false
}

// has reports whether a word is, or holds, a risky option. Long ones may be
// shortened, and short ones stand together.
func (r risky) has(word string) bool {
	option, long := strings.CutPrefix(word, "--")
	if !long && !strings.HasPrefix(word, "-") {
		return false
	}
	option, _, _ = strings.Cut(strings.TrimPrefix(option, "-"), "=")
	for name := range r.long {
		if name == option || long && option != "" && strings.HasPrefix(name, option) {
			return true
		}
	}
	return !long && strings.ContainsAny(option, r.short)
}

// setOf is the set of the words of a text.
func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}
