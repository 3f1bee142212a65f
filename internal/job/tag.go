package job

import (
	"fmt"
	"slices"
	"strconv"

	"ringback/internal/lazy"
)

// MostTags is the maximum number of tags of a job.
const MostTags = 10

var tagPattern = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._:/@=+-]{0,63}$`)

// TagFault describes what was expected of a tag; empty if the tag is valid.
func TagFault(tag string) string {
	if tagPattern().MatchString(tag) {
		return ""
	}
	return "expected 1 to 64 of the characters A-Z a-z 0-9 . _ : / @ = + -, beginning with a letter or digit"
}

// CheckTags returns the tags without duplicates, or an Invalid error.
func CheckTags(tags []string) ([]string, error) {
	var once []string
	for i, tag := range tags {
		if fault := TagFault(tag); fault != "" {
			return nil, InvalidField("/tags/"+strconv.Itoa(i), fault)
		}
		if !slices.Contains(once, tag) {
			once = append(once, tag)
		}
	}
	if len(once) > MostTags {
		return nil, InvalidField("/tags", fmt.Sprintf("found %d tags; expected at most %d", len(once), MostTags))
	}
	return once, nil
}
