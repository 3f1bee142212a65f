package job

import (
	"encoding/json"
	"fmt"
	"strings"

	"ringback/internal/text/literal"
)

// PreviewFormat is the format of an action's preview.
type PreviewFormat string

// The formats.
const (
	PreviewText  PreviewFormat = "text"
	PreviewDiff  PreviewFormat = "diff"
	PreviewTable PreviewFormat = "table"
	PreviewImage PreviewFormat = "image"
)

// PreviewFormats lists every format.
var PreviewFormats = [...]PreviewFormat{PreviewText, PreviewDiff, PreviewTable, PreviewImage}

// Preview shows what an action would do, for people to see before they allow it. It is data: no
// part of it is markup.
type Preview struct {
	// Format decides which of the other fields are set.
	Format PreviewFormat `json:"format"`
	Text   string        `json:"text,omitempty"` // The text or diff.
	// Columns and Rows are the table. Each row has a cell for each column.
	Columns []string   `json:"columns,omitempty"`
	Rows    [][]string `json:"rows,omitempty"`
	// MediaType and Data are the image: image/png, image/jpeg, image/gif or image/webp.
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
	// Digest identifies the preview: hex SHA-256 of the format and of the output, byte for byte. An
	// approval is for this digest.
	Digest string   `json:"digest"`
	Before *Preview `json:"before,omitempty"` // The preview that was last approved, if it has changed since.
}

// NewPreview returns a preview of a text or diff. For other formats, the caller must fill it in.
func NewPreview(format PreviewFormat, made string) *Preview {
	p := &Preview{Format: format, Digest: Digest([]byte(string(format) + "\x00" + made))}
	if format == PreviewText || format == PreviewDiff {
		p.Text = made
	}
	return p
}

// Lines returns the preview as text, for channels that show nothing else. For an image, it returns
// only a placeholder.
func (p *Preview) Lines() []string {
	switch p.Format {
	case PreviewText, PreviewDiff:
		return literal.Lines(strings.TrimRight(p.Text, "\n"))
	case PreviewTable:
		lines := make([]string, 0, 1+len(p.Rows))
		for _, row := range append([][]string{p.Columns}, p.Rows...) {
			lines = append(lines, strings.Join(p.Shown(row), " | "))
		}
		return lines
	case PreviewImage:
	}
	return []string{fmt.Sprintf("(an image: %s, %d bytes)", p.MediaType, len(p.Data))}
}

// Words returns what the action would do, and what it would have done when it was approved, each as
// shown formats it.
func (p *Preview) Words(shown func(p *Preview) string) string {
	if p.Before == nil {
		return "\n\nWhat it would do:" + shown(p)
	}
	return "\n\nWhat it would do has changed since it was approved. Before:" + shown(p.Before) + "\n\nNow:" + shown(p)
}

// Shown returns a row of a table for people. A cell is quoted if a character in it could be overlooked or
// mistaken for another, or if it could pass for several cells or for none.
func (*Preview) Shown(cells []string) []string {
	shown := make([]string, len(cells))
	for i, cell := range cells {
		if shown[i] = FileName(cell); strings.Contains(cell, "|") {
			shown[i] = literal.Quote(cell)
		}
	}
	return shown
}

// PreviewIn returns the preview in the props of a checkpoint, or nil.
func PreviewIn(props json.RawMessage) *Preview {
	var p struct {
		Preview *Preview `json:"preview"`
	}
	if UnmarshalExact(props, &p) != nil {
		return nil
	}
	return p.Preview
}
