package claude

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"ringback/internal/sandbox/untrusted"
	"ringback/internal/text/lazy"
)

// The CLI keeps each conversation in a file of its configuration, as lines of JSON that it
// appends to: projects/<working directory>/<conversation>.jsonl. It finds the file from
// any other working directory, so copying that one file moves the conversation. The functions
// below take the path of projects.

// MaxSession is the largest file that is copied, in bytes.
const MaxSession = 64 << 20

// UserConversations returns the directory of conversations of the CLI's user, given the CLI's
// environment.
func UserConversations(environ []string) string {
	return filepath.Join(userOf(environ).config, conversations)
}

// HasSession reports whether a directory contains a conversation. The error means that this is not known.
func HasSession(dir, conversation string) (bool, error) {
	d, err := untrusted.OpenOwn(dir)
	if err == nil {
		defer d.Close()
		_, err = findSession(d, conversation)
	}
	if untrusted.IsJobs(err) {
		return false, nil
	}
	return err == nil, err
}

// ReadSession returns a conversation from a directory, or fs.ErrNotExist if it is not there.
func ReadSession(dir, conversation string) ([]byte, error) {
	d, err := untrusted.OpenOwn(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	name, err := findSession(d, conversation)
	if err != nil {
		return nil, err
	}
	return d.Read(name, MaxSession)
}

// WriteSession puts a conversation into a directory so that a CLI can resume it.
func WriteSession(dir, conversation string, text []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	d, err := untrusted.OpenOwn(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	name, err := findSession(d, conversation)
	if errors.Is(err, fs.ErrNotExist) {
		name, err = path.Join("ringback", conversation+sessionSuffix), nil
	}
	if err != nil {
		return err
	}
	project, err := d.MakeDir(path.Dir(name))
	if err != nil {
		return err
	}
	defer project.Close()
	return project.Replace(path.Base(name), text) // a CLI reads all of it or nothing
}

const sessionSuffix = ".jsonl"

const maxProjects = 10_000

// findSession returns the path of a conversation within a directory. If there are
// several, it returns the one written last.
func findSession(dir untrusted.Dir, conversation string) (found string, err error) {
	var latest time.Time
	seen := 0
	for project, err := range dir.Names() {
		if seen++; seen > maxProjects {
			break
		}
		if err != nil {
			return "", err
		}
		name := path.Join(project, conversation+sessionSuffix)
		f, info, err := dir.File(name)
		if untrusted.IsJobs(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		f.Close()
		if found == "" || info.ModTime().After(latest) {
			found, latest = name, info.ModTime()
		}
	}
	if found == "" {
		return "", &fs.PathError{Op: "find", Path: conversation + sessionSuffix, Err: fs.ErrNotExist}
	}
	return found, nil
}

// thinking matches a line that contains the model's thinking.
var thinking = lazy.Regexp(`"type"\s*:\s*"(redacted_)?thinking"`)

var signatureInPrompt = lazy.Regexp(`- HMAC_SIGNATURE: ([0-9a-f]{64})`)

// standIn replaces the signature of the latest turn in a copy of a conversation. A turn
// that resumes at a tool call has the same signature, and Claude continues from that call
// before it gets any new values. standIn has the length of a signature.
const standIn = "__THE_SIGNATURE_OF_THE_TURN_THAT_GOES_ON_WITH_THIS_CONVERSATION_"

// MaskSession copies a conversation without any signature or anything that mask blanks
// out. ok is false if the copy cannot be resumed: the API signs the model's thinking, and
// accepts it back only unchanged.
func MaskSession(text []byte, mask func([]byte) []byte) (masked []byte, ok bool) {
	masked = text
	if all := signatureInPrompt().FindAllSubmatch(text, -1); len(all) > 0 {
		masked = bytes.ReplaceAll(masked, all[len(all)-1][1], []byte(standIn))
	}
	if masked = mask(masked); len(masked) != len(text) {
		return nil, false
	}
	at := 0
	for line := range bytes.Lines(text) {
		if thinking().Match(line) && !bytes.Equal(line, masked[at:at+len(line)]) {
			return nil, false
		}
		at += len(line)
	}
	return masked, true
}

// SignSession puts the signature of the resuming turn into the copy of a conversation.
func SignSession(text []byte, signature string) []byte {
	return bytes.ReplaceAll(text, []byte(standIn), []byte(signature))
}
