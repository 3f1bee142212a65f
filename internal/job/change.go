package job

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringback/internal/limit"
)

// The JSON names of this file are those that docs/steering.md shows.

// Repository is where a job works.
type Repository struct {
	// URL is an address or a local path.
	URL string `json:"url" yaml:"url"`
	// Branch is where the work begins; empty: the repository's own default.
	Branch string `json:"branch,omitempty" yaml:"branch"`
	// Depth is how much history Claude sees, in commits; 0: all of it.
	Depth int `json:"depth,omitempty" yaml:"depth"`
	// Name is its directory; empty: the last part of the URL.
	Name string `json:"name,omitempty" yaml:"name"`
	// FromRequest is whether it came with the job's input, and not with its kind.
	FromRequest bool `json:"-" yaml:"-"`
	// Logins is whether the kind lets the server's own logins be used for it.
	Logins bool `json:"-" yaml:"-"`
}

// RepositoryOf reads the short form of a repository: "url", or "url#branch".
func RepositoryOf(text string) Repository {
	url, branch, _ := strings.Cut(text, "#")
	return Repository{URL: url, Branch: branch}
}

// repositoryParts is a Repository that is read by its fields.
type repositoryParts Repository

// UnmarshalJSON reads both forms.
func (r *Repository) UnmarshalJSON(text []byte) error {
	return r.unmarshal(func(into any) error { return json.Unmarshal(text, into) })
}

// UnmarshalYAML reads both forms.
func (r *Repository) UnmarshalYAML(decode func(any) error) error { return r.unmarshal(decode) }

func (r *Repository) unmarshal(decode func(any) error) error {
	var short string
	if decode(&short) == nil {
		*r = RepositoryOf(short)
		return nil
	}
	return decode((*repositoryParts)(r))
}

// Verifier is a check of the changes.
type Verifier struct {
	Name string `json:"name" yaml:"name"`
	// Command is run by sh in each repository.
	Command string `json:"command" yaml:"command"`
	// Limits are what it may take. They are the kind's to say, not a request's.
	Limits limit.Limits `json:"-" yaml:"limits"`
}

// VerifierOf reads the short form of a verifier: "name:command".
func VerifierOf(text string) (Verifier, error) {
	name, command, ok := strings.Cut(text, ":")
	v := Verifier{Name: strings.TrimSpace(name), Command: strings.TrimSpace(command)}
	if !ok || v.Name == "" || v.Command == "" {
		return v, fmt.Errorf(`found %q; expected name:command, such as "test:go test"`, text)
	}
	return v, nil
}

// verifierParts is a Verifier that is read by its fields.
type verifierParts Verifier

// UnmarshalJSON reads both forms.
func (v *Verifier) UnmarshalJSON(text []byte) error {
	return v.unmarshal(func(into any) error { return json.Unmarshal(text, into) })
}

// UnmarshalYAML reads both forms.
func (v *Verifier) UnmarshalYAML(decode func(any) error) error { return v.unmarshal(decode) }

func (v *Verifier) unmarshal(decode func(any) error) (err error) {
	var short string
	if decode(&short) == nil {
		*v, err = VerifierOf(short)
		return err
	}
	return decode((*verifierParts)(v))
}

// DefaultIterations is how often a job may be steered where nothing else is said.
const DefaultIterations = 5

// Change is how a job works on repositories.
type Change struct {
	Repositories []Repository
	Verifiers    []Verifier
	// Network is what verifiers reach.
	Network Network
	// Review is whether a person must approve the change.
	Review bool
	// MaxIterations is how often it may be steered.
	MaxIterations int
	// Finalize are commands that run by sh in each changed repository once its
	// branch is pushed.
	Finalize []string
	// PullRequest is whether a pull request is opened where that can be done.
	PullRequest bool
	// Limits are what each of Finalize may take.
	Limits limit.Limits
}

// Network is what a program in a sandbox reaches beside the server: hosts by name, or one
// of the words that stand for all and for none. Empty: what is usual for such a program.
type Network []string

// The words that stand alone. Without a sandbox, each network is the machine's own.
const (
	FullNetwork = "full"
	NoNetwork   = "none"
)

// IsFull reports whether it is every public host.
func (n Network) IsFull() bool { return len(n) == 1 && n[0] == FullNetwork }

// IsNone reports whether it is no host at all, or nothing is said of it.
func (n Network) IsNone() bool { return len(n) == 0 || len(n) == 1 && n[0] == NoNetwork }

// UnmarshalYAML reads a word or a list.
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

// FileStatus is what became of a file.
type FileStatus string

// The statuses of files.
const (
	FileModified FileStatus = "modified"
	FileAdded    FileStatus = "added"
	FileDeleted  FileStatus = "deleted"
	FileRenamed  FileStatus = "renamed"
)

// DiffOutput is what a job has changed in one repository.
type DiffOutput struct {
	// Repository is its name, which is its directory's too.
	Repository string     `json:"repository"`
	Files      []FileDiff `json:"files"`
	// Summary reads "3 files changed, +45, -12".
	Summary string `json:"summary"`
	// TotalLines is how many lines the whole diff has; Truncated, whether some of
	// them are left out or cut, and Hint how to see those.
	TotalLines int    `json:"total_lines"`
	Truncated  bool   `json:"truncated"`
	Hint       string `json:"hint,omitempty"`
	// From is the first line of a page, from 1, and NextFrom that of the next one; 0
	// behind the last.
	From     int `json:"from,omitempty"`
	NextFrom int `json:"next_from,omitempty"`
	// Iteration is how often the change was steered when this was captured, and Tree
	// git's id of exactly what is shown: an approval may name both.
	Iteration int    `json:"iteration"`
	Tree      string `json:"tree,omitempty"`
	// LeftOut is what lies there and would not be pushed.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// LeftOut is a file or directory that would not be pushed, and why.
type LeftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// FileDiff is what has changed in one file.
type FileDiff struct {
	Path   string     `json:"path"`
	Status FileStatus `json:"status"`
	// OldPath is where a renamed file was.
	OldPath   string `json:"old_path,omitempty"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	// OldStart and NewStart are the numbers of the first lines of Diff, before and after the
	// change, where a page begins in the midst of a part of it; 0 where it begins with its
	// head.
	OldStart int `json:"old_start,omitempty"`
	NewStart int `json:"new_start,omitempty"`
	// Diff is the change as git shows it; empty where it is left out.
	Diff string `json:"diff"`
	// Binary is whether the file is named only, not shown.
	Binary bool `json:"binary,omitempty"`
	// Mode reads "100644→100755" where that changed.
	Mode string `json:"mode,omitempty"`
	// Repository is whether this is a commit of another git repository, not a file.
	Repository bool `json:"repository,omitempty"`
	// Suspicious says why a reviewer should look twice: the file may hold a secret,
	// or is a repository of its own. Empty where nothing is found.
	Suspicious string `json:"suspicious,omitempty"`
	// Digest identifies this change of the file: its names, modes and git's ids of its content,
	// before and after. Another round that changes the file again has another digest.
	Digest string `json:"digest,omitempty"`
}

// FailedFirst returns what verifiers have said, those that failed first.
func FailedFirst(list []VerifierOutput) []VerifierOutput {
	return slices.SortedStableFunc(slices.Values(list), func(a, b VerifierOutput) int {
		switch {
		case a.Success == b.Success:
			return 0
		case b.Success:
			return -1
		}
		return 1
	})
}

// Viewed is what of a change under review a person has marked as viewed.
type Viewed struct {
	FilesViewed
	// Files are the files of the whole change, in its order.
	Files []ViewedFile `json:"files"`
}

// FilesViewed counts the files of a change.
type FilesViewed struct {
	// Changed is how many files have changed, and Viewed how many of them the person has marked
	// as viewed, as they are now.
	Changed int `json:"changed"`
	Viewed  int `json:"viewed"`
}

// ViewedFile is a file of a change, as a person has marked it or not.
type ViewedFile struct {
	Repository string `json:"repository"`
	Path       string `json:"path"`
	// Digest is that of the file's change, see FileDiff.
	Digest string `json:"digest,omitempty"`
	Viewed bool   `json:"viewed"`
}

// VerifierOutput is how a verifier ended.
type VerifierOutput struct {
	// Verifier is the repository and the verifier's name: "service:test".
	Verifier string `json:"verifier"`
	// ExitCode is -1 when it was ended from outside.
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	Success  bool   `json:"success"`
	// Repository is where it ran.
	Repository string `json:"repository"`
	// DurationMS is how long it took, in milliseconds.
	DurationMS int64 `json:"duration_ms"`
	// TimedOut is whether it was ended for taking too long.
	TimedOut bool `json:"timed_out,omitempty"`
}

// SteeringState tells how often a job was steered.
type SteeringState struct {
	CurrentIteration int `json:"current_iteration"`
	// MaxIterations is the most that are allowed; default 5.
	MaxIterations int                 `json:"max_iterations"`
	History       []SteeringIteration `json:"history,omitempty"`
	// Queued are prompts that came while a turn was running: each is a round of its
	// own, in this order.
	Queued []string `json:"queued,omitempty"`
}

// SteeringIteration is one round that a person asked for.
type SteeringIteration struct {
	IterationNumber int       `json:"iteration_number"`
	Prompt          string    `json:"prompt"`
	Timestamp       time.Time `json:"timestamp"`
	// FilesModified and Output are what came of it; absent while it runs.
	FilesModified []string `json:"files_modified,omitempty"`
	Output        string   `json:"output,omitempty"`
}

// Finalized is what became of one repository after the approval.
type Finalized struct {
	Repository string `json:"repository"`
	Branch     string `json:"branch,omitempty"`
	Commit     string `json:"commit,omitempty"`
	// URL is the pull request's.
	URL string `json:"url,omitempty"`
	// CompareURL is where a pull request can be opened, where there is none and the
	// host is known; Note says why there is none.
	CompareURL string `json:"compare_url,omitempty"`
	Note       string `json:"note,omitempty"`
	// Unchanged is whether there was nothing to do.
	Unchanged bool `json:"unchanged,omitempty"`
	// Error says why it failed; a further approval tries it again.
	Error string `json:"error,omitempty"`
}
