package job

import (
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"ringback/internal/text/literal"
)

// MediaType is what a question shows beside its text.
type MediaType string

// The types.
const (
	MediaImage MediaType = "image"
	MediaVideo MediaType = "video"
	MediaFile  MediaType = "file"
)

// Media is what a question shows beside its text: a file that its job made, or something
// elsewhere, to which there is a link. The server never fetches that.
type Media struct {
	Type MediaType
	File string // The path of the file in the job's directory; empty for something elsewhere.
	Host string // The host that the link to something elsewhere leads to; empty for a file.
	Link string // The path of the file in the console, or an address in visible ASCII.
}

// Label names it: "Image at cdn.example", or "Image lake.png".
func (m Media) Label() string {
	label := strings.ToUpper(string(m.Type[:1])) + string(m.Type[1:])
	if m.Host != "" {
		return label + " at " + m.Host
	}
	return label + " " + FileName(m.File)
}

// Bounds of what a question shows: how many, and how long an address or a path may be.
const (
	mostMedia     = 12
	longestMedium = 1000
)

// Media returns what a question shows beside its text: what its props image_url, images,
// video_url and files name. What is neither an address of the web nor the path of a file is
// left out.
func (c Checkpoint) Media() []Media {
	var props struct {
		ImageURL json.RawMessage `json:"image_url"`
		Images   json.RawMessage `json:"images"`
		VideoURL json.RawMessage `json:"video_url"`
		Files    json.RawMessage `json:"files"`
	}
	if UnmarshalExact(c.Props, &props) != nil {
		return nil
	}
	var all []Media
	add := func(t MediaType, named ...string) {
		for _, text := range named {
			if m, ok := c.medium(t, text); ok && len(all) < mostMedia {
				all = append(all, m)
			}
		}
	}
	add(MediaImage, textsIn(props.ImageURL)...)
	add(MediaImage, textsIn(props.Images)...)
	add(MediaVideo, textsIn(props.VideoURL)...)
	add(MediaFile, textsIn(props.Files)...)
	return all
}

// medium reads what a question names; ok is false if it cannot be shown.
func (c Checkpoint) medium(t MediaType, text string) (m Media, ok bool) {
	if len(text) > longestMedium {
		return Media{}, false
	}
	if t != MediaFile {
		if address, host, ok := literal.Address(text); ok {
			return Media{Type: t, Host: host, Link: address}, true
		}
	}
	isPath := c.RequestID != "" && text != "." && text == path.Clean(text) && !strings.Contains(text, ":") &&
		text[0] != '/' && text != ".." && !strings.HasPrefix(text, "../")
	return Media{Type: t, File: text, Link: Pages("").File(c.RequestID, text)}, isPath
}

// textsIn are a text, or those of a list: of an object, its url.
func textsIn(value json.RawMessage) []string {
	var list []json.RawMessage
	if UnmarshalExact(value, &list) != nil {
		list = []json.RawMessage{value}
	}
	var texts []string
	for _, one := range list {
		var text string
		if UnmarshalExact(one, &text) != nil {
			var object struct {
				URL string `json:"url"`
			}
			_ = UnmarshalExact(one, &object) // neither names anything
			text = object.URL
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// Pages is the address at which people reach the console, such as https://example.com/ringback. If it is
// empty, links are paths, which the console completes.
type Pages string

// Job returns the page of a job, or one below it.
func (p Pages) Job(id ID, below string) string {
	return string(p) + "/jobs/" + url.PathEscape(string(id)) + below
}

// Question returns the page of a question.
func (p Pages) Question(id CheckpointID) string {
	return string(p) + "/inbox/" + url.PathEscape(string(id))
}

// File returns the address of a file that a job made; the API has it below /api.
func (p Pages) File(id ID, name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return p.Job(id, "/files/"+strings.Join(parts, "/"))
}
