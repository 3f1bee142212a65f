package runner

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/store"
	"ringback/internal/turn/claude"
)

// output follows a process's output, which is telemetry and never a result.
type output struct {
	store        *store.Store
	jobs         *lifecycle.Service
	job          job.Job
	files        process.Files
	offset       int64
	piece        []byte // the last piece that was read
	reader       *claude.Reader
	conversation conversation
	writing      writing
	// lines filters the lines that the transcript keeps; kept is the number of bytes that are stored.
	lines claude.WholeLines
	kept  int64
	// unwritten are the lines, and unsaid the messages, that the store has not taken yet.
	unwritten []byte
	unsaid    []lifecycle.AssistantMessage
	// secrets are blanked out. errSize is the size of standard error when it was last stored.
	secrets process.Secrets
	errSize int64
	// noted is set if the store knows that the conversation began, and notedPrompt if it knows that the
	// conversation contains the prompt; ending is set by finish.
	noted, notedPrompt, ending bool
	// roomFunc returns why the store has no room for what only tells what the turn does; nil if it always has.
	roomFunc func() error
	// spokeFunc is called once the conversation has continued.
	spokeFunc func()
}

// adopt marks the output as that of a turn that an earlier start began: its text so far was already
// sent.
func (o *output) adopt() *output {
	o.writing.before = sizeOf(o.files.Stdout)
	o.conversation.adopted = o.writing.before
	return o
}

// newOutput returns the output of a turn. answers are those that its prompt contains.
func (r *Runner) newOutput(j job.Job, f process.Files, answers []job.Checkpoint) *output {
	o := &output{
		store: r.store, jobs: r.jobs, job: j, files: f, secrets: r.secrets, reader: &claude.Reader{},
		conversation: conversation{secrets: r.secrets, turn: j.Turn}, spokeFunc: func() { r.spoke(context.Background(), j) },
		roomFunc: r.opts.StoreRoomFunc,
	}
	prefix, thinking := j.Kind, false
	if k, err := r.kindOf(j); err == nil {
		prefix, thinking = k.Policy.Events, k.Policy.Thinking
	}
	o.writing = writing{out: o, name: prefix + ":" + job.TextName, secrets: r.secrets, thinking: thinking}
	o.lines.Thinking = thinking
	o.conversation.expect(answers)
	if seen := r.uses.of(j.ID).answers; seen != nil && !j.Simulated {
		o.conversation.model = seen
	}
	return o
}

const (
	// pieceSize is the size of one read, and maxPieces the number of reads in a row, so that a
	// flood of output does not delay the turn's other events.
	pieceSize = 1 << 20
	maxPieces = 4
)

func (o *output) size() int64 { return sizeOf(o.files.Stdout) + sizeOf(o.files.Stderr) }

func sizeOf(name string) int64 {
	info, err := os.Lstat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// untilFull returns the time until the size should be checked again, given how much may still be printed:
// no program prints it in less.
func untilFull(left int64) time.Duration {
	const fastest = 4 << 30 // bytes per second
	const shortest, longest = time.Millisecond, 50 * time.Millisecond
	return min(max(time.Duration(float64(left)/fastest*float64(time.Second)), shortest), longest)
}

// bound kills the process, with all that it has started, once its output exceeds limit, and frees the disk
// of the excess. Nothing delays it: neither a slow store nor a process that ignores signals. It returns when
// ctx ends: a child that the process has left may print after its end.
func (t *claudeTurn) bound(ctx context.Context, limit int64) {
	for most := limit; ; {
		size := t.out.size()
		if size > most {
			t.proc.Kill()
			t.r.sweeper.Add(t.proc.Marker)
			t.r.sweeper.Sweep()
			t.r.warnIf(t.out.files.CutOutput(limit+1), "could not trim the output of a turn", "requestId", t.job.ID)
			size = t.out.size()
			most = max(limit, size)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(untilFull(limit - size)):
		}
	}
}

// follow reads the new output. It reports whether it has read all of it.
func (o *output) follow() (isWhole bool) {
	for range maxPieces {
		isWhole = o.followStdout() < pieceSize
		if o.send() != nil || isWhole {
			break
		}
	}
	o.followStderr()
	return isWhole
}

// followStderr stores the end of standard error if it has grown.
func (o *output) followStderr() {
	info, err := os.Lstat(o.files.Stderr)
	if err != nil || info.Size() == o.errSize && !o.ending || !o.hasRoom() {
		return
	}
	if o.errSize = info.Size(); o.errSize == 0 {
		return
	}
	text := o.stderr(store.StderrLimit)
	if !o.ending {
		text = text[:bytes.LastIndexByte(text, '\n')+1] // the rest may be half a secret
	}
	// Telemetry: a gap does no harm.
	_ = briefly(func(ctx context.Context) error {
		return o.store.Transcripts.WriteStderr(ctx, o.job.ID, o.job.Turn, text)
	})
}

// stderr returns the end of standard error, at most n bytes of it. It reads more, so
// that the result does not begin with half a secret.
func (o *output) stderr(n int64) []byte {
	longest := max(signatureDigits, int64(o.secrets.Longest()))
	text := mask(tail(o.files.Stderr, n+longest), o.secrets)
	return text[max(0, int64(len(text))-n):]
}

// followStdout reads the next piece of standard output, and returns its size in bytes.
func (o *output) followStdout() int {
	f, err := untrusted.OpenFile(o.files.Stdout)
	if err != nil {
		return 0
	}
	defer f.Close()
	if o.piece == nil {
		o.piece = make([]byte, pieceSize)
	}
	n, err := f.ReadAt(o.piece, o.offset)
	chunk, atEnd := o.piece[:n], errors.Is(err, io.EOF)
	if !o.ending || !atEnd {
		chunk = chunk[:n-max(openDigits(chunk), o.secrets.Open(chunk))] // may be half a signature
		if end := bytes.LastIndexByte(chunk, '\n'); end >= 0 || n < pieceSize {
			chunk = chunk[:end+1] // the type of an incomplete line is still unknown
		}
	}
	if len(chunk) > 0 {
		o.handle(chunk)
	}
	return n
}

func (o *output) handle(chunk []byte) {
	_, _ = o.reader.Write(chunk)
	o.noteBegun()
	o.unwritten = append(o.unwritten, mask(o.lines.Filter(chunk), o.secrets)...)
	o.writing.publish() // the message with the whole text comes after its pieces
	o.unsaid = append(o.unsaid, o.conversation.messages(o.reader.Messages())...)
	o.offset += int64(len(chunk))
}

// mostSaid limits the messages that are stored at once: nobody else's command is carried out until then.
const mostSaid = 200

// hasRoom reports whether the store has room for what only tells what the turn does.
func (o *output) hasRoom() bool { return o.roomFunc == nil || o.roomFunc() == nil }

// send stores what was read. It returns an error if the store is unavailable: then the rest is sent again
// with what follows. While the store has no room, the transcript leaves out what is printed, and the chat
// waits, at most until the turn ends.
func (o *output) send() error {
	if len(o.unwritten)+len(o.unsaid) == 0 {
		return nil
	}
	if !o.hasRoom() {
		if o.unwritten = nil; !o.ending {
			return nil
		}
	}
	return briefly(func(ctx context.Context) error {
		for len(o.unwritten) > 0 {
			piece := o.unwritten[:min(len(o.unwritten), pieceSize)]
			err := o.store.Transcripts.Write(ctx, o.job.ID, o.job.Turn, o.kept, piece)
			if job.HasKind(err, job.Unavailable) {
				return err
			}
			o.kept, o.unwritten = o.kept+int64(len(piece)), o.unwritten[len(piece):]
		}
		for len(o.unsaid) > 0 { // much may have been said while the store was unavailable
			some := min(len(o.unsaid), mostSaid)
			for some < len(o.unsaid) && o.unsaid[some].End == o.unsaid[some-1].End { // what one line contains goes together
				some++
			}
			err := o.jobs.AppendAssistantMessages(ctx, o.job.ID, o.job.Turn, o.unsaid[:some])
			if job.HasKind(err, job.Unavailable) {
				return err
			}
			o.unsaid = o.unsaid[some:]
		}
		return nil
	})
}

// noteBegun records in the store that a conversation has begun, and then that it contains the prompt,
// while it still runs: another node may have to resume it.
func (o *output) noteBegun() {
	prompted := o.reader.Prompted
	if o.ending || !o.reader.Begun || o.noted && o.notedPrompt == prompted {
		return
	}
	o.spokeFunc()
	err := briefly(func(ctx context.Context) error {
		return o.jobs.BeginConversation(ctx, o.job.ID, lifecycle.Holder{Turn: o.job.Turn}, prompted)
	})
	o.noted, o.notedPrompt = err == nil, err == nil && prompted
}

// shownStderr is how much of the end of standard error explains a failure, in bytes.
const shownStderr = 2000

// finish reads the rest, unless the output exceeds limit. It returns the end of standard
// error. The caller stores what the store has not taken, with send.
func (o *output) finish(limit int64) (stderr string) {
	o.ending = true // the turn's end records the rest
	var err error
	for before := int64(-1); before != o.offset && o.size() <= limit; {
		before = o.offset
		o.followStdout()
		if err == nil {
			err = o.send()
		}
	}
	o.writing.stop()
	o.followStderr()
	o.reader.Close()
	o.unsaid = append(o.unsaid, o.conversation.rest(o.offset+1)...)
	return string(o.stderr(shownStderr))
}

func tail(path string, n int64) []byte {
	f, err := untrusted.OpenFile(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-n), n))
	return text
}

// signatureDigits is the length of a signature. Claude writes signatures into payload
// files, and the CLI prints what Claude writes.
const signatureDigits = 64

// maskSignatures blanks out everything that looks like a signature, preserving the
// length.
func maskSignatures(text []byte) []byte {
	masked := bytes.Clone(text)
	for start := 0; start < len(masked); {
		run := digits(masked[start:])
		if run == signatureDigits {
			copy(masked[start:], bytes.Repeat([]byte{'*'}, run))
		}
		start += max(run, 1)
	}
	return masked
}

// openDigits returns the number of hex digits at the end of the text that may be the
// beginning of a signature.
func openDigits(text []byte) int {
	run := 0
	for run < len(text) && run <= signatureDigits && isDigit(text[len(text)-1-run]) {
		run++
	}
	if run > signatureDigits {
		return 0
	}
	return run
}

func digits(text []byte) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// mask blanks out signatures and secrets, preserving the length.
func mask(text []byte, secrets process.Secrets) []byte { return secrets.Hide(maskSignatures(text)) }
