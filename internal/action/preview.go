package action

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats of images that are shown
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/process"
)

// Bounds of a preview: all of it goes into the question, the chat and the events.
const (
	maxPreview      = 64 << 10 // bytes of a text, a diff or a table
	maxPreviewImage = 96 << 10 // bytes of an image
	maxImageSide    = 4096     // pixels
	maxColumns      = 20
	maxRows         = 500
)

// Preview makes the preview of an action; nil if the action has none. The error says, in
// words for Claude and for the author of the kind, why there is nothing that people could be
// shown.
func (s *Service) Preview(ctx context.Context, r Run) (*job.Preview, error) {
	p := r.Action.Preview
	if p == nil {
		return nil, nil
	}
	if p.Template != "" {
		return readPreview(p.Format, kind.Fill(p.Template, r.Input))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, fmt.Errorf("it took longer than %s", p.Timeout))
	defer cancel()
	output, err := s.runPreview(ctx, r)
	if err != nil {
		return nil, err
	}
	return readPreview(p.Format, output)
}

// runPreview runs the command of a preview, and returns what it printed.
func (s *Service) runPreview(ctx context.Context, r Run) (string, error) {
	input, err := json.Marshal(r.Input)
	if err != nil {
		return "", err
	}
	dir, done, err := s.workDir(r.RequestID)
	if err != nil {
		return "", err
	}
	defer done()
	p := r.Action.Preview
	args, err := s.fill(p.Command, r)
	if err != nil {
		return "", err
	}
	way := s.opts.Doors.OfAction(r.RequestID, "the preview of "+r.Action.Name, p.Network)
	room, err := s.previewRoom(r, args[0], dir, way.Network)
	if err != nil {
		return "", err
	}
	ended, err := process.Run(ctx, process.Command{
		Args: args, Dir: dir, Env: s.environ(r, p.Env), Marker: process.OwnMarker(string(r.RequestID)), Stdin: input,
		Sandbox: s.opts.Sandbox, Room: room, Limits: r.Action.Limits, OutputLimit: 4 * maxPreview,
	})
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	case ended.Code != 0:
		ended.Limit = strings.TrimSpace(ended.Limit + "\n" + way.Refused())
		return "", fmt.Errorf("it ended with exit code %d: %s", ended.Code, lastWords(ended))
	}
	return ended.Stdout, nil
}

// previewRoom is what the command of a preview reaches. It only reads the job's directory; one
// that was made for it, since the job's is on another machine, is its own.
func (s *Service) previewRoom(r Run, program, dir string, network process.Network) (process.Room, error) {
	given := process.Room{Readable: slices.Clone(r.Action.Preview.Readable), Network: network}
	if s.opts.Dir(r.RequestID) != dir {
		given.Writable = []string{dir}
	}
	room, err := s.room(r, program, dir, given)
	if room.Writable == nil {
		room.Readable = append(room.Readable, dir)
	}
	return room, err
}

// readPreview makes what was printed a preview.
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
		return nil, fmt.Errorf("it is larger than %d KiB, which is more than people are shown", maxPreview>>10)
	}
	// What is no UTF-8 arrives as U+FFFD, so different bytes would count as the same.
	if !utf8.ValidString(output) || strings.ContainsAny(output, "\x00\ufffd") {
		return nil, errors.New("it is no text in UTF-8")
	}
	if format == job.PreviewTable {
		err := readTable(p, output)
		return p, err
	}
	return p, nil
}

// readImage reads base64, with or without line breaks.
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
	width, height := imageSize(data)
	if width < 1 || height < 1 || width > maxImageSide || height > maxImageSide {
		return fmt.Errorf("the image is %d × %d pixels: expected 1 to %d on each side", width, height, maxImageSide)
	}
	return nil
}

// imageSize is the size of an image in pixels; 0 if it cannot be read.
func imageSize(data []byte) (width, height int) {
	if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		return config.Width, config.Height
	}
	if len(data) < 30 || string(data[8:12]) != "WEBP" {
		return 0, 0
	}
	number := func(at, bytes int) (n int) {
		for i := range bytes {
			n |= int(data[at+i]) << (8 * i)
		}
		return n
	}
	switch string(data[12:16]) { // the three sorts of WebP
	case "VP8 ":
		return number(26, 2) & 0x3fff, number(28, 2) & 0x3fff
	case "VP8L":
		bits := number(21, 4)
		return bits&0x3fff + 1, bits>>14&0x3fff + 1
	case "VP8X":
		return number(24, 3) + 1, number(27, 3) + 1
	}
	return 0, 0
}

// readTable reads a JSON array of flat objects. Columns are in the order in which they first
// come.
func readTable(p *job.Preview, output string) error {
	wrong := errors.New(`a table is a JSON array of flat objects: [{"name": "a", "size": 1}]`)
	var rows []json.RawMessage
	if err := json.Unmarshal([]byte(output), &rows); err != nil || rows == nil {
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
		return fmt.Errorf("the table has %d rows and %d columns: at most %d and %d are shown", len(p.Rows), len(p.Columns), maxRows, maxColumns)
	}
	for i, row := range p.Rows { // later rows may have brought further columns
		p.Rows[i] = append(row, make([]string, len(p.Columns)-len(row))...)
	}
	return nil
}

// readRow reads a flat object, in its order. A name that stands there twice is an error.
func readRow(text json.RawMessage) (names, cells []string, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, nil, errors.New("no object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		value, err := dec.Token()
		if _, nested := value.(json.Delim); err != nil || nested || slices.Contains(names, name.(string)) {
			return nil, nil, errors.New("not flat")
		}
		cell := ""
		if value != nil {
			cell = fmt.Sprint(value)
		}
		names, cells = append(names, name.(string)), append(cells, cell)
	}
	return names, cells, nil
}

// previewLife is how old the preview may be to which an approval was compared when its action
// begins. It is made again if the server stood still in between.
const previewLife = 2 * time.Second

// errChanged is the end of a run that has not begun.
var errChanged = errors.New("what it would do changed just before it began, so it did not run. Call it again, without \"confirmed\": people are asked with what it would do now")

// stillAsShown returns an error if the preview is not any more what was approved.
func (s *Service) stillAsShown(ctx context.Context, r Run) error {
	if r.Preview == nil || time.Since(r.PreviewedAt) < previewLife && time.Since(r.PreviewedAt.Round(0)) < previewLife {
		return nil
	}
	now, err := s.Preview(ctx, r)
	if err != nil {
		return fmt.Errorf("its preview failed just before it began, so it did not run: %w", err)
	}
	if now == nil || now.Digest != r.Preview.Digest {
		return errChanged
	}
	return nil
}
