package job

import "strings"

// The words that ids begin with.
const (
	JobIDs        = "req"
	CheckpointIDs = "chk"
	ApprovalIDs   = "apr"
)

// MinIDPrefix is how many characters of an id's random part name it at least:
// of a hundred thousand jobs, one in ten thousand shares its first six with another.
const MinIDPrefix = 6

const (
	randomLength = 26 // of crypto/rand.Text
	shortLength  = 8
	alphabet     = "abcdefghijklmnopqrstuvwxyz234567"
)

// IDPrefix is what people write for an id, which reads
// "<word>_<partition>_<random>": the whole of it, or the beginning of its random
// part, with or without what stands before that.
type IDPrefix struct {
	word, partition, random string
}

// ParseIDPrefix reads text as an id of a word, JobIDs say, or its beginning. ok is
// false for text that cannot be one, however it went on.
func ParseIDPrefix(word, text string) (p IDPrefix, ok bool) {
	p = IDPrefix{word: word, random: strings.ToLower(strings.TrimSpace(text))}
	p.random = strings.TrimPrefix(p.random, word+"_")
	if partition, random, found := strings.Cut(p.random, "_"); found {
		p.partition, p.random = partition, random
		ok = len(partition) == 2 && strings.Trim(partition, "0123456789abcdef") == ""
	} else {
		ok = true
	}
	return p, ok && len(p.random) <= randomLength && strings.Trim(p.random, alphabet) == ""
}

// TooShort reports whether it says too little to look for.
func (p IDPrefix) TooShort() bool { return len(p.random) < MinIDPrefix }

// Complete reports whether it is a whole id, which need not be looked for.
func (p IDPrefix) Complete() bool { return p.partition != "" && len(p.random) == randomLength }

// In reports whether ids that begin so can be in a partition, given as its two
// digits, and how they begin there.
func (p IDPrefix) In(partition string) (beginning string, ok bool) {
	return p.word + "_" + partition + "_" + p.random, p.partition == "" || p.partition == partition
}

// Matches reports whether an id begins so.
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

// Short returns the form of an id that lists show, which any command takes. An
// id that is not of ours stays as it is.
func (id ID) Short() string {
	if p, ok := ParseIDPrefix(JobIDs, string(id)); ok && p.Complete() {
		return p.random[:shortLength]
	}
	return string(id)
}

// Short is ID.Short for a checkpoint. It keeps its first word, by which a
// reply tells it from what is said.
func (id CheckpointID) Short() string { return shortWithWord(CheckpointIDs, string(id)) }

// ShortApproval is ID.Short for a standing approval.
func ShortApproval(id string) string { return shortWithWord(ApprovalIDs, id) }

func shortWithWord(word, id string) string {
	if p, ok := ParseIDPrefix(word, id); ok && p.Complete() {
		return word + "_" + p.random[:shortLength]
	}
	return id
}
