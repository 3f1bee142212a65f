package markdown

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Command is one command of a shell block.
type Command struct {
	// Line is the line in the document where it begins, from 1.
	Line int
	// Source is the command as typed, including here-documents.
	Source string
	// Remark is the comment at the end of its line.
	Remark string
	// Output is the expected output according to the comment lines directly below it.
	// Comment lines after an empty line belong to what follows, and are ignored.
	Output string
}

// Commands splits a shell block into its commands.
func (b Block) Commands() ([]Command, error) {
	file, err := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(b.Text), "")
	if err != nil {
		return nil, fmt.Errorf("line %d: this is no shell command: %w", b.Line, err)
	}
	var comments []*syntax.Comment
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			comments = append(comments, c)
		}
		return true
	})
	lines := strings.Split(b.Text, "\n")
	commands := make([]Command, len(file.Stmts))
	for i, stmt := range file.Stmts {
		from, to := stmt.Pos().Offset(), uint(len(b.Text))
		if i+1 < len(file.Stmts) {
			to = file.Stmts[i+1].Pos().Offset()
		}
		c := Command{Line: b.Line + int(stmt.Pos().Line()) - 1, Source: strings.TrimRight(b.Text[from:to], "\n ")}
		c.note(comments, lines, from, to)
		commands[i] = c
	}
	return commands, nil
}

// note sets remark and output from the comments between two offsets.
func (c *Command) note(comments []*syntax.Comment, lines []string, from, to uint) {
	gap := false
	for _, comment := range comments {
		if comment.Pos().Offset() < from || comment.Pos().Offset() >= to {
			continue
		}
		line := int(comment.Pos().Line()) - 1
		if !strings.HasPrefix(strings.TrimSpace(lines[line]), "#") {
			c.Remark = strings.TrimSpace(comment.Text)
			continue
		}
		if gap = gap || strings.TrimSpace(lines[line-1]) == ""; !gap {
			c.Output += comment.Text + "\n"
		}
	}
}
