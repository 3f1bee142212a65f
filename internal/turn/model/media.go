package model

import (
	"encoding/base64"
	"image"
	_ "image/gif"  // to read its size
	_ "image/jpeg" // to read its size
	_ "image/png"  // to read its size
	"strings"
)

const (
	// Window is the maximum number of tokens that any model reads at once.
	Window = 1_000_000
	// maxImage is the maximum number of tokens of an image: the API scales larger ones down.
	maxImage = 4784
	// patch is the width and height of the part of an image that costs a token, in pixels. Models differ;
	// none has smaller ones.
	patch = 27
)

type source struct {
	kind string
	// twice is true if it has two types, of which the API may use either.
	twice bool
	// size is the size of its data in bytes, and tokens what the data costs as an image or a document.
	size, tokens int64
}

// source processes a field of a source.
func (i *inspection) source(depth int, name string, value any) {
	s := i.sources[depth]
	switch data, _ := value.(string); name {
	case "type":
		s.twice = s.twice || s.kind != "" && s.kind != data
		s.kind = text(value)
	case "data":
		s.size += int64(len(data))
		s.tokens += mediaTokens(data)
	}
	i.sources[depth] = s
}

// endSource counts a source once all of its fields are known.
func (i *inspection) endSource(path []string) {
	s, isSource := i.sources[len(path)]
	if !isSource || path[len(path)-1] != "source" {
		return
	}
	delete(i.sources, len(path))
	switch {
	case s.kind == "base64" && !s.twice:
		i.asked.Bytes -= s.size
		i.asked.Media += s.tokens
	case s.kind == "file" || s.kind == "url" || s.twice: // the API gets the rest from elsewhere
		i.asked.Media += Window
	}
}

// mediaTokens returns the maximum number of tokens of an image or a document. How many pages a document
// has cannot be told from its bytes, because they may be compressed or occur repeatedly.
func mediaTokens(data string) int64 {
	size, kind, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	switch {
	case err == nil && kind != "":
		return min(patches(size.Width)*patches(size.Height), maxImage)
	case strings.HasPrefix(data, "UklGR"): // WebP
		return maxImage
	}
	return Window
}

func patches(pixels int) int64 { return (int64(pixels) + patch - 1) / patch }
