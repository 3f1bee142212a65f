package apikey_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/internal/web/apikey"
	"ringback/test/must"
)

var (
	one, other = apikey.Of("one", "the-first-key"), apikey.Of("other", "the-other-key")
	sum        = strings.TrimPrefix(one.Line(), "one sha256:")
)

func TestLinesThatCount(t *testing.T) {
	t.Parallel()
	day := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		text    string
		keys    int
		expires time.Time
	}{
		"a line":                   {one.Line() + "\n", 1, time.Time{}},
		"without its end":          {one.Line(), 1, time.Time{}},
		"two":                      {one.Line() + "\n" + other.Line() + "\n", 2, time.Time{}},
		"remarks and empty lines":  {"# ours\n\n" + one.Line() + " # of the shop\n", 1, time.Time{}},
		"tabs and an indent":       {"\t" + strings.ReplaceAll(one.Line(), " ", "\t\t"), 1, time.Time{}},
		"a file of Windows":        {"\ufeff" + one.Line() + "\r\n", 1, time.Time{}},
		"capital digits":           {"one sha256:" + strings.ToUpper(sum), 1, time.Time{}},
		"until a day":              {one.Line() + " expires=2027-01-31", 1, day},
		"until a time":             {one.Line() + " expires=2027-01-31T01:00:00+01:00", 1, day},
		"as it is written":         {apikey.Key{Name: "one", Digest: one.Digest, Expires: day}.Line(), 1, day},
		"a name of all characters": {"a.B-c_9 sha256:" + sum, 1, time.Time{}},
		"nothing":                  {"", 0, time.Time{}},
	} {
		keys, err := apikey.Parse([]byte(c.text))
		if err != nil || len(keys) != c.keys {
			t.Errorf("%s: %d keys, %v", name, len(keys), err)
		} else if c.keys > 0 && (keys[0].Digest != one.Digest || !keys[0].Expires.Equal(c.expires)) {
			t.Errorf("%s: read as %v", name, keys[0])
		}
	}
}

// An author who misunderstood the format may have written a key into the file, so no
// message quotes it.
func TestLinesThatDoNotCount(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"the-first-key":                             "line 1: expected a name",
		"one the-first-key":                         "line 1: the digest is invalid",
		"one sha256:the-first-key":                  "line 1: the digest is invalid",
		"one " + sum:                                "the digest is invalid",
		"one sha256:" + sum[:62]:                    "the digest is invalid",
		"one sha256:" + sum + "0":                   "the digest is invalid",
		"one sha256:" + sum + "00":                  "the digest is invalid",
		"one sha256:" + strings.Repeat("g", 64):     "only hex digits are expected",
		"one sha256: " + sum:                        "the digest is invalid",
		"one:sha256:" + sum:                         "the name is invalid",
		"a name sha256:" + sum:                      "the digest is invalid",
		"ö sha256:" + sum:                           "the name is invalid",
		"-one sha256:" + sum:                        "the name is invalid",
		"API_KEYS/1 sha256:" + sum:                  "the name is invalid",
		one.Line() + " 2027-01-31":                  "the third field is invalid",
		one.Line() + " expires=":                    "the third field is invalid",
		one.Line() + " expires=never":               "the third field is invalid",
		one.Line() + " expires=2027-02-30":          "the third field is invalid",
		one.Line() + " expires=2027-01-31 18:00":    "expected a name",
		one.Line() + "\n\n" + one.Line():            "line 3: the name is also in line 1",
		one.Line() + "\ntwo sha256:" + sum:          "line 2: the digest is also in line 1",
		apikey.Of("one", "").Line():                 "that of an empty key",
		apikey.Of("one", "\n").Line():               "that of an empty key",
		"one sha256:" + sum + "\x00":                "the digest is invalid",
		"\xff\xfeo\x00n\x00e\x00":                   "not text in UTF-8",
		other.Line() + "\ntwo\n" + one.Line() + ",": "line 2: expected a name",
	} {
		_, err := apikey.Parse([]byte(text))
		must.Fail(t, err, says, text)
		if err != nil && (strings.Contains(err.Error(), "the-first-key") || strings.Contains(err.Error(), sum)) {
			t.Errorf("%q: the message shows what stands there: %v", text, err)
		}
	}
}

func TestAKeyIsAdded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys")
	first := must.Get(apikey.Add(file, "one", time.Time{}))(t)
	text := must.Get(os.ReadFile(file))(t)
	if err := os.WriteFile(file, []byte(strings.TrimSpace(string(text))), 0o600); err != nil { // without a final newline
		t.Fatal(err)
	}
	second, err := apikey.Add(file, "two", time.Now().Add(time.Hour))
	if err != nil || first == second || len(first) < 26 {
		t.Fatalf("%q and %q, %v", first, second, err)
	}
	keys := must.Get(apikey.Open(file))(t)
	for name, key := range map[string]string{"one": first, "two": second} {
		if k, known, err := keys.Find(key); k.Name != name || !known || err != nil {
			t.Errorf("%s was found as %v %t %v", name, k, known, err)
		}
	}
	before, _ := os.ReadFile(file)
	if _, err := apikey.Add(file, "one", time.Time{}); err == nil {
		t.Error("a name was given twice")
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Error("a refused key changed the file")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

func TestAKeyThatHasExpired(t *testing.T) {
	t.Parallel()
	past := apikey.Of("past", "a-key-of-the-past")
	past.Expires = time.Now().Add(-time.Second)
	keys := must.Get(apikey.Open("", past, one))(t)
	if _, known, err := keys.Find("a-key-of-the-past"); !known || err == nil || !strings.Contains(err.Error(), "expired at") {
		t.Errorf("found: %t, %v", known, err)
	}
	if _, ok := keys.Until(past); ok {
		t.Error("it still counts")
	}
	if until, ok := keys.Until(one); !ok || !until.IsZero() {
		t.Errorf("the other one counts until %v, %t", until, ok)
	}
}
