package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringback/internal/job"
)

// DefaultLines is how many lines of diff are shown of one repository.
const DefaultLines = 1000

// maxLine bounds a line of a diff that is shown, in bytes.
const maxLine = 2000

// Diff tells what has changed since the work began, committed or not, untracked
// files included. maxLines bounds what is shown of each repository; 0 means
// DefaultLines.
//
// trees are what exactly that is: the git tree of each repository, by its name.
// Whatever writes to the workspace later, these can be brought out.
func (w *Workspace) Diff(ctx context.Context, maxLines int) (all []job.DiffOutput, trees Trees, err error) {
	if maxLines == 0 {
		maxLines = DefaultLines
	}
	all, trees = make([]job.DiffOutput, 0, len(w.Repositories)), Trees{}
	for _, r := range w.Repositories {
		d, tree, err := w.diff(ctx, r, maxLines)
		if err != nil {
			return nil, nil, fmt.Errorf("repository %s: %w", r.Name, err)
		}
		all, trees[r.Name] = append(all, d), tree
	}
	return all, trees, nil
}

// Trees are the contents of repositories: git's ids of trees, by the name of the
// repository.
type Trees map[string]string

func (w *Workspace) diff(ctx context.Context, r job.Repository, maxLines int) (out job.DiffOutput, tree string, err error) {
	g, done, err := w.index(ctx, r)
	if err != nil {
		return out, "", err
	}
	defer done()
	tree, err = g.run(ctx, "write-tree")
	if err != nil {
		return out, "", err
	}
	out, err = w.shown(ctx, g, r, maxLines)
	return out, strings.TrimSpace(tree), err
}

func (w *Workspace) shown(ctx context.Context, g git, r job.Repository, maxLines int) (job.DiffOutput, error) {
	base := []string{"diff-index", "--cached", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short"}
	raw, err := g.run(ctx, append(base, "--raw", "-z", baseRef)...)
	if err != nil {
		return job.DiffOutput{}, err
	}
	files := parseRaw(raw)
	numbers, err := g.run(ctx, append(base, "--numstat", "-z", baseRef)...)
	if err != nil {
		return job.DiffOutput{}, err
	}
	countLines(files, numbers)
	out := job.DiffOutput{Repository: r.Name, Files: []job.FileDiff{}}
	p := &patches{files: files, left: maxLines}
	reader, writer := io.Pipe()
	go func() {
		_ = writer.CloseWithError(g.pipe(ctx, writer, append(base, "--patch", "--src-prefix=a/", "--dst-prefix=b/", baseRef)...))
	}()
	if err := p.read(reader); err != nil {
		return out, err
	}
	additions, deletions := 0, 0
	for _, f := range files {
		f.Suspicious = suspicion(f.FileDiff)
		out.Files = append(out.Files, f.FileDiff)
		additions, deletions = additions+f.Additions, deletions+f.Deletions
	}
	out.Summary = summary(len(files), additions, deletions)
	out.TotalLines, out.Truncated = p.total, p.total > maxLines || p.cut
	return out, nil
}

func summary(files, additions, deletions int) string {
	noun := "files"
	if files == 1 {
		noun = "file"
	}
	return fmt.Sprintf("%d %s changed, +%d, -%d", files, noun, additions, deletions)
}

// changed is a file with what the reading of its patch needs.
type changed struct {
	job.FileDiff
	// sections is how many patches git writes for it: two where a file became a
	// link, or the other way round.
	sections int
}

// parseRaw reads the files of "git diff-index --raw -z".
func parseRaw(text string) []*changed {
	fields := strings.Split(text, "\x00")
	var files []*changed
	for i := 0; i+1 < len(fields); {
		meta := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(meta) < 5 {
			break
		}
		f := &changed{sections: 1}
		f.Path = fields[i+1]
		i += 2
		switch meta[4][0] {
		case 'A':
			f.Status = job.FileAdded
		case 'D':
			f.Status = job.FileDeleted
		case 'R', 'C':
			f.Status, f.OldPath, f.Path = job.FileRenamed, f.Path, fields[i]
			i++
		case 'T':
			f.Status, f.sections = job.FileModified, 2
		default:
			f.Status = job.FileModified
		}
		if meta[0] != meta[1] && meta[0] != "000000" && meta[1] != "000000" {
			f.Mode = meta[0] + "→" + meta[1]
		}
		files = append(files, f)
	}
	return files
}

// countLines reads "git diff-index --numstat -z", which has the same order.
func countLines(files []*changed, text string) {
	fields := strings.Split(text, "\x00")
	for i, n := 0, 0; i < len(fields) && n < len(files); n++ {
		parts := strings.SplitN(fields[i], "\t", 3)
		if len(parts) < 3 {
			return
		}
		i++
		if parts[2] == "" { // a renamed file: both names follow
			i += 2
		}
		f := files[n]
		if f.Binary = parts[0] == "-"; !f.Binary {
			f.Additions, _ = strconv.Atoi(parts[0])
			f.Deletions, _ = strconv.Atoi(parts[1])
		}
	}
}

// patches reads the text of a diff into its files.
type patches struct {
	files []*changed
	at    int // index of the file being read, from 1
	done  int // its sections that have begun
	left  int // lines that may still be shown
	total int
	cut   bool
}

var header = []byte("diff --git ")

func (p *patches) read(from io.Reader) error {
	lines := bufio.NewReaderSize(from, 64<<10)
	var text bytes.Buffer
	for {
		line, err := readLine(lines)
		if len(line) > 0 {
			if bytes.HasPrefix(line, header) {
				p.store(&text)
				p.next()
			}
			p.keep(&text, line)
		}
		if errors.Is(err, io.EOF) {
			p.store(&text)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine returns a line with its end; one that is too long is cut.
func readLine(from *bufio.Reader) ([]byte, error) {
	line, err := from.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	kept := append(bytes.Clone(line[:maxLine]), "…\n"...)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = from.ReadSlice('\n')
	}
	return kept, err
}

// next goes on to the file that a header begins.
func (p *patches) next() {
	if p.at > 0 && p.done < p.files[p.at-1].sections {
		p.done++
		return
	}
	p.at, p.done = min(p.at+1, len(p.files)), 1
}

func (p *patches) keep(text *bytes.Buffer, line []byte) {
	p.total++
	if p.at == 0 || p.files[p.at-1].Binary {
		return
	}
	if p.left--; p.left < 0 {
		p.cut = true
		return
	}
	if len(line) > maxLine {
		line = append(bytes.Clone(line[:maxLine]), "…\n"...)
	}
	text.Write(line)
}

func (p *patches) store(text *bytes.Buffer) {
	if p.at > 0 {
		shown := text.Bytes()
		if !utf8.Valid(shown) {
			shown = bytes.ToValidUTF8(shown, []byte("\uFFFD"))
		}
		p.files[p.at-1].Diff += string(shown)
	}
	text.Reset()
}
