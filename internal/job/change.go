package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringback/internal/job/limit"
)

// docs/steering.md documents the JSON names of this file.

// Repository is a git repository that a job works on.
type Repository struct {
	URL string `json:"url" yaml:"url"` // A URL or a local path.
	// Branch is the branch to start from; empty for the repository's default.
	Branch string `json:"branch,omitempty" yaml:"branch"`
	Depth  int    `json:"depth,omitempty" yaml:"depth"` // The number of commits of history that Claude sees; 0 for all.
	Name   string `json:"name,omitempty" yaml:"name"`   // Its directory; empty for the last part of the URL.
	// FromRequest is true if the repository came from the job's input, not from its kind.
	FromRequest bool `json:"-" yaml:"-"`
	// Logins is true if the kind allows the use of the server's own credentials for it.
	Logins bool `json:"-" yaml:"-"`
}

// RepositoryOf parses the short form of a repository: "url", or "url#branch".
func RepositoryOf(text string) Repository {
	url, branch, _ := strings.Cut(text, "#")
	return Repository{URL: url, Branch: branch}
}

// UnmarshalJSON accepts both forms.
func (r *Repository) UnmarshalJSON(text []byte) error {
	return r.UnmarshalYAML(func(into any) error { return UnmarshalExact(text, into) })
}

// UnmarshalYAML accepts both forms.
func (r *Repository) UnmarshalYAML(decode func(any) error) error {
	var short string
	if decode(&short) == nil {
		*r = RepositoryOf(short)
		return nil
	}
	type parts Repository // without this method
	return decode((*parts)(r))
}

// Verifier is a check of the changes.
type Verifier struct {
	Name    string       `json:"name" yaml:"name"`
	Command string       `json:"command" yaml:"command"` // Run by sh in each repository.
	Limits  limit.Limits `json:"-" yaml:"limits"`        // Its resource limits. Only the kind sets them, not a request.
}

// VerifierOf parses the short form of a verifier: "name:command".
func VerifierOf(text string) (Verifier, error) {
	name, command, ok := strings.Cut(text, ":")
	v := Verifier{Name: strings.TrimSpace(name), Command: strings.TrimSpace(command)}
	if !ok || v.Name == "" || v.Command == "" {
		return v, fmt.Errorf(`found %q; expected name:command, such as "test:go test"`, text)
	}
	return v, nil
}

// UnmarshalJSON accepts both forms.
func (v *Verifier) UnmarshalJSON(text []byte) error {
	return v.unmarshal(func(into any) error { return UnmarshalExact(text, into) })
}

// UnmarshalYAML accepts both forms, and a mapping of the name to the command.
func (v *Verifier) UnmarshalYAML(decode func(any) error) error {
	var keys map[string]any
	if decode(&keys) != nil || keys["command"] != nil || len(keys) > 1 {
		return v.unmarshal(decode)
	}
	var named map[string]string
	err := decode(&named)
	for v.Name, v.Command = range named {
	}
	return err
}

func (v *Verifier) unmarshal(decode func(any) error) (err error) {
	var short string
	if decode(&short) == nil {
		*v, err = VerifierOf(short)
		return err
	}
	type parts Verifier // without these methods
	return decode((*parts)(v))
}

// DefaultIterations is the default number of times that a job may be steered.
const DefaultIterations = 5

// Change configures a job's work on repositories.
type Change struct {
	Repositories []Repository
	Verifiers    []Verifier
	// VerifiersAtOnce is the number of verifiers that run at once. If it is more than one, each has separate
	// copies of the repositories.
	VerifiersAtOnce int
	Network         Network      // The network that verifiers can reach.
	Review          bool         // True if a person must approve the change.
	MaxIterations   int          // The number of times that the change may be steered.
	Finalize        []string     // Commands that sh runs in each changed repository after its branch is pushed.
	PullRequest     bool         // True if a pull request is opened where the host supports it.
	Limits          limit.Limits // The resource limits of each command in Finalize.
}

// Network lists what a program in a sandbox can reach in addition to the server: host names, or one of the
// words for all and none. Empty means the default for such a program.
type Network []string

// The words. They cannot be combined with hosts. Without a sandbox, every program has the machine's
// own network.
const (
	FullNetwork = "full"
	NoNetwork   = "none"
)

// IsFull reports whether it allows every public host.
func (n Network) IsFull() bool { return len(n) == 1 && n[0] == FullNetwork }

// IsNone reports whether it allows no host, or is empty.
func (n Network) IsNone() bool { return len(n) == 0 || len(n) == 1 && n[0] == NoNetwork }

// UnmarshalYAML accepts a word or a list.
func (n *Network) UnmarshalYAML(decode func(any) error) error {
	var word string
	if decode(&word) == nil {
		*n = Network{word}
		if word != FullNetwork && word != NoNetwork {
			return fmt.Errorf("found %q; expected full, none, or a list of hosts, [registry.npmjs.org]", word)
		}
		return nil
	}
	return decode((*[]string)(n))
}

// FileStatus is the kind of change of a file.
type FileStatus string

// The statuses of files.
const (
	FileModified FileStatus = "modified"
	FileAdded    FileStatus = "added"
	FileDeleted  FileStatus = "deleted"
	FileRenamed  FileStatus = "renamed"
)

// DiffOutput is a job's change in one repository.
type DiffOutput struct {
	Repository string     `json:"repository"` // The name of the repository, and of its directory.
	Files      []FileDiff `json:"files"`      // The changed files.
	// Summary reads "3 files changed, +45, -12".
	Summary    string `json:"summary"`
	TotalLines int    `json:"total_lines"`         // The number of lines in the whole diff.
	Truncated  bool   `json:"truncated"`           // True if lines are left out or cut.
	Hint       string `json:"hint,omitempty"`      // How to get the lines that are left out or cut.
	From       int    `json:"from,omitempty"`      // The first line of this page, from 1.
	NextFrom   int    `json:"next_from,omitempty"` // The first line of the next page; absent on the last page.
	// Iteration is the number of times the change had been steered when it was captured. An approval may name
	// it.
	Iteration int    `json:"iteration"`
	Tree      string `json:"tree,omitempty"` // The id of the git tree that is shown. An approval may name it.
	// LeftOut lists files in the workspace that would not be pushed.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// LeftOut is a file or directory that would not be pushed, with the reason.
type LeftOut struct {
	Path   string `json:"path"`   // The path of the file or directory in its repository.
	Reason string `json:"reason"` // Why it would not be pushed.
}

// LineContinues is the line of a diff that follows a piece of a long line. Like git's line about a
// missing newline, it begins with a backslash, as no line of a file does there.
const LineContinues = `\ The line continues`

// FileDiff is the change of one file.
type FileDiff struct {
	Path      string     `json:"path"` // The file's path in its repository.
	Status    FileStatus `json:"status"`
	OldPath   string     `json:"old_path,omitempty"` // The previous path of a renamed file.
	Additions int        `json:"additions"`          // The number of added lines.
	Deletions int        `json:"deletions"`          // The number of deleted lines.
	// OldStart is the number of the first line shown, before the change, if a page begins within a hunk;
	// otherwise absent.
	OldStart int `json:"old_start,omitempty"`
	// NewStart is the number of the first line shown, after the change, if a page begins within a hunk;
	// otherwise absent.
	NewStart int `json:"new_start,omitempty"`
	// Diff is the change in git's format; empty if it is left out. A very long line is in pieces,
	// each but the last followed by the line "\ The line continues".
	Diff   string `json:"diff"`
	Binary bool   `json:"binary,omitempty"` // True if only the file's name is shown, not its content.
	// Mode reads "100644→100755" if the mode changed.
	Mode       string `json:"mode,omitempty"`
	Repository bool   `json:"repository,omitempty"` // True if this is a commit of another git repository, not a file.
	// Suspicious is the reason why a reviewer should look twice: the file may contain a secret, its
	// content is not shown, or it is a nested repository. It is empty if nothing was found.
	Suspicious string `json:"suspicious,omitempty"`
	// Digest identifies this change of the file: its names, modes and git object ids, before and
	// after. If a later round changes the file again, the digest differs.
	Digest string `json:"digest,omitempty"`
}

// FailedFirst returns the verifiers' results, failed ones first.
func FailedFirst(list []VerifierOutput) []VerifierOutput {
	succeeded := func(v VerifierOutput) bool { return v.Success }
	failed := func(v VerifierOutput) bool { return !v.Success }
	return append(slices.DeleteFunc(slices.Clone(list), succeeded), slices.DeleteFunc(slices.Clone(list), failed)...)
}

// SuspiciousFirst returns files with those first that a reviewer should look at twice.
func SuspiciousFirst(files []FileDiff) []FileDiff {
	return slices.SortedStableFunc(slices.Values(files), func(a, b FileDiff) int {
		return cmp.Compare(min(len(b.Suspicious), 1), min(len(a.Suspicious), 1))
	})
}

// Viewed lists which files of a change under review a person has marked as viewed.
type Viewed struct {
	FilesViewed
	Files []ViewedFile `json:"files"` // The files of the whole change, in its order.
}

// FilesViewed counts the files of a change.
type FilesViewed struct {
	Changed int `json:"changed"` // The number of changed files.
	Viewed  int `json:"viewed"`  // The number of changed files that the person has marked as viewed in their present form.
}

// ViewedFile is a file of a change, with the person's mark.
type ViewedFile struct {
	Repository string `json:"repository"`       // The name of the file's repository.
	Path       string `json:"path"`             // The file's path in its repository.
	Digest     string `json:"digest,omitempty"` // The digest of the file's change, as in the diff.
	Viewed     bool   `json:"viewed"`           // True if the person has marked the file as viewed in its present form.
}

// VerifierOutput is the result of a verifier.
type VerifierOutput struct {
	Verifier   string `json:"verifier"`            // The names of the repository and the verifier: "service:test".
	ExitCode   int    `json:"exit_code"`           // The exit code; -1 if the verifier was killed.
	Stdout     string `json:"stdout"`              // The verifier's standard output.
	Stderr     string `json:"stderr"`              // The verifier's standard error.
	Success    bool   `json:"success"`             // True if the exit code is 0.
	Repository string `json:"repository"`          // The repository in which it ran.
	DurationMS int64  `json:"duration_ms"`         // The duration in milliseconds.
	TimedOut   bool   `json:"timed_out,omitempty"` // True if it was killed because it took too long.
}

// SteeringState counts how often a job was steered.
type SteeringState struct {
	CurrentIteration int                 `json:"current_iteration"` // The number of times the job has been steered.
	MaxIterations    int                 `json:"max_iterations"`    // The maximum number of times; default 5.
	History          []SteeringIteration `json:"history,omitempty"` // The rounds so far, oldest first.
	// Queued are prompts that arrived while a turn was running. Each becomes a separate round, in
	// this order.
	Queued []string `json:"queued,omitempty"`
}

// SteeringIteration is one round that a person requested.
type SteeringIteration struct {
	IterationNumber int       `json:"iteration_number"`         // The number of the round, from 1.
	Prompt          string    `json:"prompt"`                   // The person's instruction for the round.
	Timestamp       time.Time `json:"timestamp"`                // The time at which the round was requested.
	FilesModified   []string  `json:"files_modified,omitempty"` // The changed files; absent while the round is running.
	Output          string    `json:"output,omitempty"`         // The output of the round; absent while it is running.
}

// Finalized is the result of publishing one repository after the approval.
type Finalized struct {
	Repository string `json:"repository"`
	// Tree is the id of the git tree that was approved, and published unless there is an Error.
	Tree   string `json:"tree,omitempty"`
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit,omitempty"`
	// Pushed are the commits that the branch may be at, until it is certain that it has the Commit: Public,
	// and those whose push began and was neither confirmed nor refused. Only these are replaced there.
	Pushed []string `json:"pushed,omitempty"`
	Public string   `json:"public,omitempty"` // The commit that the job's branch is known to have; empty if it has none.
	// FinalizersDone are the digests of the finalize: commands that have succeeded for the Tree, in their
	// order; absent if an earlier version recorded only their number. Another attempt does not run them again.
	FinalizersDone []string `json:"finalizers_done,omitzero"`
	Finalizers     int      `json:"finalizers,omitempty"` // The length of FinalizersDone.
	URL            string   `json:"url,omitempty"`        // The URL of the pull request.
	// CompareURL is the page to open a pull request on, if none was opened and the host is known.
	// Note is the reason why none was opened, and names commits of others on the branch.
	CompareURL string `json:"compare_url,omitempty"`
	Note       string `json:"note,omitempty"`
	Unchanged  bool   `json:"unchanged,omitempty"` // True if there was nothing to publish.
	Error      string `json:"error,omitempty"`     // The reason for a failure. Another approval retries.
}

// Published is a commit of a job's change that is public, or may be.
type Published struct {
	Repository  string `json:"repository"`            // The name of the repository.
	Branch      string `json:"branch"`                // The branch that the commit was pushed to.
	Commit      string `json:"commit"`                // The id of the commit.
	URL         string `json:"url,omitempty"`         // The URL of the pull request.
	Unconfirmed bool   `json:"unconfirmed,omitempty"` // True if a push began, and its outcome is not known.
}

// LeftPublic returns the commits that are public of a job that parks, or has ended without a result.
func (j Job) LeftPublic() []Published {
	if j.State == Received || j.State == Running { // its result names them, or more is to come
		return nil
	}
	return j.PublishedCommits
}

// PublishedIn returns the commits that are public, or may be, according to the outcomes so far.
func PublishedIn(outcomes []Finalized) (all []Published) {
	for _, f := range outcomes {
		at := Published{Repository: f.Repository, Branch: f.Branch, Commit: f.KnownPublic(), URL: f.URL}
		if at.Commit != "" {
			all = append(all, at)
		}
		for _, commit := range f.Pushed {
			if commit != at.Commit {
				all = append(all, Published{Repository: f.Repository, Branch: f.Branch, Commit: commit, Unconfirmed: true})
			}
		}
	}
	return all
}

// KnownPublic returns Public, also of a record of an earlier version that has only the outcome.
func (f Finalized) KnownPublic() string {
	if f.Public == "" && (f.Error == "" || f.Finalizers > 0) {
		return f.Commit
	}
	return f.Public
}

// Has reports whether a tree is published: the remote has it, and the kind's finalize: commands have
// succeeded. The result of an earlier round is for that round's tree only.
func (f Finalized) Has(tree string, commands []string) bool {
	return f.Error == "" && f.Tree == tree && tree != "" && len(f.Unfinished(commands)) == 0
}

// Unfinished returns those of a kind's finalize: commands that have not succeeded for the Tree. The job may
// have moved to a kind with other commands since. If only the number of those that succeeded is recorded,
// they were the first ones, because it is not safe to repeat a command.
func (f Finalized) Unfinished(commands []string) []string {
	switch {
	case f.FinalizersDone != nil:
		done := slices.Clone(f.FinalizersDone)
		return slices.DeleteFunc(slices.Clone(commands), func(command string) bool {
			at := slices.Index(done, Digest([]byte(command)))
			if at >= 0 {
				done = slices.Delete(done, at, at+1) // a command that is listed twice runs twice
			}
			return at >= 0
		})
	case f.Error == "":
		return nil
	}
	return commands[min(f.Finalizers, len(commands)):]
}

// Finished records that commands have succeeded for the Tree.
func (f *Finalized) Finished(commands ...string) {
	if f.FinalizersDone == nil {
		f.FinalizersDone = []string{}
	}
	for _, command := range commands {
		f.FinalizersDone = append(f.FinalizersDone, Digest([]byte(command)))
	}
	f.Finalizers = len(f.FinalizersDone)
}
