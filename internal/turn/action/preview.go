package action

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the image formats that are shown
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	_ "golang.org/x/image/webp" // another format of previews

	"ringback/internal/job"
)

// Bounds of a preview: all of it goes into the question, the chat and the events.
const (
	maxPreview      = 64 << 10 // bytes of a text, a diff or a table
	maxPreviewImage = 96 << 10 // bytes of an image
	maxImageSide    = 4096     // pixels
	maxColumns      = 20
	maxRows         = 500
)

// Preview creates the preview of an action; nil if the action has none. The error, meant
// for Claude and for the author of the kind, describes why there is nothing to show people.
func (s *Service) Preview(ctx context.Context, r Run) (*job.Preview, error) {
	p := r.Action.Preview
	if p == nil {
		return nil, nil
	}
	if p.Template != "" {
		return readPreview(p.Format, p.Filled(r.Input))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, fmt.Errorf("it took longer than %s", p.Timeout))
	defer cancel()
	ended, err := s.execute(ctx, r, command{
		Program: p.Program, owner: "the preview of " + r.Action.Name, outputLimit: 4 * maxPreview,
	})
	if err != nil {
		return nil, err
	}
	if ended.Code != 0 {
		return nil, fmt.Errorf("it ended with exit code %d: %s", ended.Code, lastWords(ended))
	}
	return readPreview(p.Format, ended.Stdout)
}

func readPreview(format job.PreviewFormat, output string) (*job.Preview, error) {
	p := job.NewPreview(format, output)
	if strings.TrimSpace(output) == "" {
		return nil, errors.New("it is empty")
	}
	if format == job.PreviewImage {
		err := readImage(p, output)
		return p, err
	}
	if len(output) > maxPreview {
		return nil, fmt.Errorf("it is larger than %d KiB, the limit", maxPreview>>10)
	}
	// Invalid UTF-8 becomes U+FFFD in JSON, so different bytes would look the same.
	if !utf8.ValidString(output) || strings.ContainsAny(output, "\x00\ufffd") {
		return nil, errors.New("it is not text in UTF-8")
	}
	if format == job.PreviewTable {
		err := readTable(p, output)
		return p, err
	}
	return p, nil
}

// readImage decodes base64, with or without line breaks.
func readImage(p *job.Preview, output string) error {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(output), ""))
	if err != nil {
		return errors.New("an image is printed in base64, and nothing else: base64 plan.png")
	}
	if len(data) > maxPreviewImage {
		return fmt.Errorf("the image is larger than %d KiB", maxPreviewImage>>10)
	}
	p.MediaType, p.Data = http.DetectContentType(data), data
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, p.MediaType) {
		return fmt.Errorf("it is %s: expected a PNG, JPEG, GIF or WebP image", p.MediaType)
	}
	size, _, _ := image.DecodeConfig(bytes.NewReader(data)) // 0 × 0 if it cannot be decoded
	if size.Width < 1 || size.Height < 1 || size.Width > maxImageSide || size.Height > maxImageSide {
		return fmt.Errorf("the image is %d × %d pixels: expected 1 to %d on each side", size.Width, size.Height, maxImageSide)
	}
	return nil
}

// readTable parses a JSON array of flat objects. Columns are in the order of their first
// appearance.
func readTable(p *job.Preview, output string) error {
	wrong := errors.New(`a table is a JSON array of flat objects: [{"name": "a", "size": 1}]`)
	var rows []json.RawMessage
	if err := job.UnmarshalExact([]byte(output), &rows); err != nil || rows == nil {
		return wrong
	}
	at := map[string]int{}
	for _, row := range rows {
		names, cells, err := readRow(row)
		if err != nil {
			return wrong
		}
		for _, name := range names {
			if _, known := at[name]; !known {
				at[name] = len(p.Columns)
				p.Columns = append(p.Columns, name)
			}
		}
		line := make([]string, len(p.Columns))
		for i, name := range names {
			line[at[name]] = cells[i]
		}
		p.Rows = append(p.Rows, line)
	}
	if len(p.Rows) > maxRows || len(p.Columns) > maxColumns {
		return fmt.Errorf(
			"the table has %d rows and %d columns: at most %d and %d are shown", len(p.Rows), len(p.Columns), maxRows,
			maxColumns,
		)
	}
	for i, row := range p.Rows { // later rows may have added columns
		p.Rows[i] = append(row, make([]string, len(p.Columns)-len(row))...)
	}
	return nil
}

// readRow parses a flat object, in its order. A duplicate name is an error.
func readRow(text json.RawMessage) (names, cells []string, err error) {
	if text[0] != '{' {
		return nil, nil, errors.New("no object")
	}
	for name, value := range job.Members(text) {
		var cell any
		if err := job.UnmarshalExact(value, &cell); err != nil {
			return nil, nil, err
		}
		if value[0] == '{' || value[0] == '[' || slices.Contains(names, name) {
			return nil, nil, errors.New("not flat")
		}
		if cell == nil {
			cell = ""
		}
		names, cells = append(names, name), append(cells, fmt.Sprint(cell))
	}
	return names, cells, nil
}

// previewLife is the maximum age, when an action starts, of the preview that the approval
// was compared with. If the server was suspended in between, the preview is made again.
const previewLife = 2 * time.Second

// errChanged is the outcome of a run that was not started because its preview has changed.
var errChanged = errors.New("its preview changed just before it started, so it did not run. Call it again without \"confirmed\": people are asked with the new preview")

// stillAsShown returns an error if the preview is no longer what was approved.
func (s *Service) stillAsShown(ctx context.Context, r Run) error {
	if r.Preview == nil || time.Since(r.PreviewedAt) < previewLife && time.Since(r.PreviewedAt.Round(0)) < previewLife {
		return nil
	}
	now, err := s.Preview(ctx, r)
	if err != nil {
		return fmt.Errorf("its preview failed just before it started, so it did not run: %w", err)
	}
	if now == nil || now.Digest != r.Preview.Digest {
		return errChanged
	}
	return s.mayBegin(ctx, r) // it may have taken a while
}
