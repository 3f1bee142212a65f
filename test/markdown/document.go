// Package markdown reads what a document tells its readers to type: its code
// blocks with their commands, and the commands that its sentences name.
package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Block is a fenced code block. The words behind its language are invisible to
// readers; they say what a test cannot know:
//
//	```sh terminal=server     typed in another terminal, which goes on running
//	```yaml file=task.yaml    what the reader saves under this name
type Block struct {
	// Line is where its text begins, from 1.
	Line int
	// Language is the first word of the info string; empty when there is none.
	Language string
	// Terminal names the terminal in which it is typed; empty is the first one.
	Terminal string
	// File is where the reader saves it; empty when it is not saved.
	File string
	// Text is what stands between the fences.
	Text string
}

// Document is what is read of a Markdown file.
type Document struct {
	Blocks []Block
	// Spans are the code spans in its text and tables.
	Spans []Text
	// Links are the destinations of its links and images.
	Links []Text
	// Anchors are what links to its headings say behind the #, as GitHub makes them.
	Anchors []string
	// Rows are those of its tables, each as what stands under which heading.
	Rows []Row
}

// Row is a row of a table.
type Row struct {
	Line int
	// Cells are the code spans of each cell, by the heading of its column.
	Cells map[string][]string
}

// Text is a piece of text and the line, from 1, where it stands.
type Text struct {
	Line int
	Text string
}

// Parse reads a Markdown file. It fails on an info string that nothing understands,
// and on indented code, which cannot say what it is.
func Parse(source []byte) (Document, error) {
	var d Document
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source))
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			b, err := block(n, source)
			d.Blocks = append(d.Blocks, b)
			return ast.WalkSkipChildren, err
		case *ast.CodeBlock:
			return ast.WalkStop, fmt.Errorf("line %d: indented code; fence it, with its language", lineOf(n, source))
		case *ast.Heading:
			d.Anchors = append(d.Anchors, anchor(wholeText(n, source)))
		case *ast.CodeSpan:
			d.Spans = append(d.Spans, Text{lineOf(n, source), textOf(n, source)})
		case *extast.Table:
			d.Rows = append(d.Rows, rows(n, source)...)
		case *ast.Link:
			d.Links = append(d.Links, Text{lineOf(n, source), string(n.Destination)})
		case *ast.Image:
			d.Links = append(d.Links, Text{lineOf(n, source), string(n.Destination)})
		}
		return ast.WalkContinue, nil
	})
	return d, err
}

// rows are those of a table below its headings.
func rows(table *extast.Table, source []byte) []Row {
	var headings []string
	for cell := table.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
		headings = append(headings, textOf(cell, source))
	}
	var all []Row
	for row := table.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
		r := Row{Cells: map[string][]string{}}
		column := 0
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			for n := cell.FirstChild(); n != nil; n = n.NextSibling() {
				if span, ok := n.(*ast.CodeSpan); ok {
					r.Line = lineOf(span, source)
					r.Cells[headings[column]] = append(r.Cells[headings[column]], textOf(span, source))
				}
			}
			column++
		}
		all = append(all, r)
	}
	return all
}

func block(n *ast.FencedCodeBlock, source []byte) (Block, error) {
	var b Block
	var code bytes.Buffer
	for i, line := range n.Lines().Sliced(0, n.Lines().Len()) {
		if i == 0 {
			b.Line = lineAt(source, line.Start)
		}
		code.Write(line.Value(source))
	}
	b.Text = code.String()
	if n.Info == nil {
		return b, nil
	}
	words := strings.Fields(string(n.Info.Segment.Value(source)))
	for i, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case i == 0:
			b.Language = word
		case name == "terminal" && value != "":
			b.Terminal = value
		case name == "file" && value != "":
			b.File = value
		default:
			return b, fmt.Errorf("line %d: the code block says %q, which means nothing; terminal=… and file=… do", lineAt(source, n.Info.Segment.Start), word)
		}
	}
	return b, nil
}

func textOf(n ast.Node, source []byte) string {
	var all strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			all.Write(t.Segment.Value(source))
		}
	}
	return all.String()
}

// wholeText is the text of a node and of all within it.
func wholeText(n ast.Node, source []byte) string {
	var all strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			all.Write(t.Segment.Value(source))
		} else {
			all.WriteString(wholeText(child, source))
		}
	}
	return all.String()
}

// anchor is how GitHub names a heading: small letters, - for a space, nothing for the rest.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// lineOf is the line of an inline node: that of the first text in it, or else of
// the block that it stands in.
func lineOf(n ast.Node, source []byte) int {
	for child := n.FirstChild(); child != nil; child = child.FirstChild() {
		if t, ok := child.(*ast.Text); ok {
			return lineAt(source, t.Segment.Start)
		}
	}
	for ; n != nil; n = n.Parent() {
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			return lineAt(source, n.Lines().At(0).Start)
		}
	}
	return 1
}

func lineAt(source []byte, offset int) int {
	return 1 + bytes.Count(source[:offset], []byte("\n"))
}
