package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringback/internal/text/lazy"
)

// The prefixes of ids.
const (
	JobIDs        = "req"
	CheckpointIDs = "chk"
	ApprovalIDs   = "apr"
)

// MinIDPrefix is the minimum length of a prefix of an id's random part: among a hundred thousand
// jobs, one in ten thousand shares its first six characters with another.
const MinIDPrefix = 6

const (
	randomLength = 26 // of crypto/rand.Text
	shortLength  = 8
)

// IDPrefix is an id as people enter it. The full form is "<word>_<partition>_<random>"; a prefix of
// the random part will do, with or without what comes before it.
type IDPrefix struct {
	word, partition, random string
}

// ParseIDPrefix parses text as an id of a word, such as JobIDs, or as its beginning. ok is false if
// no id can begin with the text.
func ParseIDPrefix(word, text string) (p IDPrefix, ok bool) {
	parts := idPrefix().FindStringSubmatch(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), word+"_"))
	if parts == nil {
		return IDPrefix{word: word, random: text}, false // which no id has
	}
	return IDPrefix{word: word, partition: parts[1], random: parts[2]}, true
}

var idPrefix = lazy.Regexp(`^(?:([0-9a-f]{2})_)?([a-z2-7]{0,26})$`)

// TooShort reports whether it is too short for a search.
func (p IDPrefix) TooShort() bool { return len(p.random) < MinIDPrefix }

// Complete reports whether it is a whole id, which needs no search.
func (p IDPrefix) Complete() bool { return p.partition != "" && len(p.random) == randomLength }

// LooksLikeID reports whether a word that begins a text may be meant as an id: it begins as an id does,
// in any case and with any punctuation before it, or has more letters and digits in a row than words do.
// The short form of a job's id has no such mark; IDPrefix and a search recognize it.
func LooksLikeID(word string) bool { return idLike().MatchString(strings.ToLower(word)) }

var idLike = lazy.Regexp(`^[^a-z0-9]*(?:req|chk|apr|ses)[_-]|[a-z0-9]{22}`)

// In returns how ids with this prefix begin in a partition, which is given as its two digits. ok
// reports whether the partition can contain such ids.
func (p IDPrefix) In(partition string) (beginning string, ok bool) {
	return p.word + "_" + partition + "_" + p.random, p.partition == "" || p.partition == partition
}

// Matches reports whether an id has this prefix.
func (p IDPrefix) Matches(id string) bool {
	word, rest, _ := strings.Cut(id, "_")
	partition, random, _ := strings.Cut(rest, "_")
	return word == p.word && (p.partition == "" || p.partition == partition) && strings.HasPrefix(random, p.random)
}

// String returns the id as far as it is known.
func (p IDPrefix) String() string {
	if p.partition == "" {
		return p.random
	}
	return p.word + "_" + p.partition + "_" + p.random
}

// Short returns the short form of an id for lists, which every command accepts. An id in another
// format is returned unchanged.
func (id ID) Short() string {
	if p, ok := ParseIDPrefix(JobIDs, string(id)); ok && p.Complete() {
		return p.random[:shortLength]
	}
	return string(id)
}

// OwnSession returns the name of the session that a job begins if its request names none.
func (id ID) OwnSession() string { return "ses_" + strings.TrimPrefix(string(id), JobIDs+"_") }

// OfSession returns the job whose OwnSession has this name. ok is false if no job's has.
func OfSession(name string) (id ID, ok bool) {
	random, ok := strings.CutPrefix(name, "ses_")
	return ID(JobIDs + "_" + random), ok
}

// Short is ID.Short for a checkpoint. It keeps the prefix "chk", which distinguishes it from text
// in a reply.
func (id CheckpointID) Short() string { return shortWithWord(CheckpointIDs, string(id)) }

// ShortApproval is ID.Short for a standing approval.
func ShortApproval(id string) string { return shortWithWord(ApprovalIDs, id) }

func shortWithWord(word, id string) string {
	if p, ok := ParseIDPrefix(word, id); ok && p.Complete() {
		return word + "_" + p.random[:shortLength]
	}
	return id
}

// NameRule describes the names that callers may choose.
type NameRule struct {
	Most   int  // The maximum number of characters.
	InPath bool // True if the name is part of a URL path.
}

// The rules for names that callers choose.
var (
	UserNames    = NameRule{Most: 128}
	SessionNames = NameRule{Most: 256, InPath: true}
	RunNames     = NameRule{Most: 256}
	KeyNames     = NameRule{Most: 256}
)

// notInPath contains the characters with a special meaning in paths, or that proxies interpret.
const notInPath = `/\?#%`

// Fault describes what was expected if a name breaks the rule; empty otherwise. Invisible
// characters are rejected, because two names could look the same.
func (r NameRule) Fault(name string) string {
	expected := fmt.Sprintf("expected 1 to %d visible characters, no control characters among them and no space at either end", r.Most)
	if r.InPath {
		expected += ", and none of " + strings.Join(strings.Split(notInPath, ""), " ")
	}
	switch {
	case name == "", !utf8.ValidString(name), utf8.RuneCountInString(name) > r.Most, strings.TrimSpace(name) != name:
		return expected
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return expected
	case r.InPath && (strings.ContainsAny(name, notInPath) || name == "." || name == ".."):
		return expected
	}
	return ""
}

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

// FieldLabel names a field for people: its title in the schema or, without one, its name in words, so that
// dateRangeStart is "Date range start".
func FieldLabel(title, name string) string {
	if title != "" {
		return title
	}
	var out strings.Builder
	for i, r := range strings.ReplaceAll(strings.ReplaceAll(name, "_", " "), "-", " ") {
		switch {
		case i == 0:
			out.WriteString(strings.ToUpper(string(r)))
		case r >= 'A' && r <= 'Z':
			out.WriteString(" " + strings.ToLower(string(r)))
		default:
			out.WriteRune(r)
		}
	}
	for short, right := range map[string]string{"Url": "URL", "Id": "ID", "Usd": "USD"} {
		if out.String() == short {
			return right
		}
	}
	return out.String()
}
