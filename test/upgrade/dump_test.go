package upgrade

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/test/must"
)

// dump is what a store holds, as commands of Redis in words, so that it can be read.
type dump struct {
	// Time is the store's time, in ms.
	Time int64 `json:"time"`
	// Jobs are the jobs by what is going on with them.
	Jobs     map[string]string `json:"jobs"`
	Commands [][]string        `json:"commands"`
}

// Words that begin so are no text: their bytes follow in base64, or what they are when they are not compressed.
const binary, zipped = "base64:", "gzip:"

// places are texts of a machine, and what stands for them in a dump.
type places map[string]string

func (p places) written(word string) string {
	if text, err := unzip([]byte(word)); err == nil && utf8.Valid(text) {
		return zipped + p.written(string(text))
	}
	for _, text := range slices.SortedFunc(maps.Keys(p), func(a, b string) int { return len(b) - len(a) }) {
		word = strings.ReplaceAll(word, text, p[text])
	}
	if !utf8.ValidString(word) {
		return binary + base64.StdEncoding.EncodeToString([]byte(word))
	}
	return word
}

func unzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := must.Get(gzip.NewWriterLevel(&b, gzip.BestCompression))(t)
	must.Get(io.WriteString(w, text))(t)
	must.OK(t, w.Close())
	return b.Bytes()
}

// dumpStore returns what a store holds. Secrets of callbacks are replaced by zeros.
func dumpStore(t *testing.T, rdb redis.UniversalClient, jobs map[string]string, at places) dump {
	t.Helper()
	ctx := t.Context()
	d := dump{Time: must.Get(rdb.Time(ctx).Result())(t).UnixMilli(), Jobs: jobs}
	keys := must.Get(rdb.Keys(ctx, "*").Result())(t)
	slices.Sort(keys)
	for _, key := range keys {
		for _, words := range commandsOf(t, rdb, key) {
			for i, word := range words {
				words[i] = at.written(word)
			}
			d.Commands = append(d.Commands, words)
		}
		if left := rdb.PTTL(ctx, key).Val(); left > 0 {
			d.Commands = append(d.Commands, []string{"PEXPIRE", at.written(key), left.Truncate(time.Second).String()})
		}
	}
	return d
}

// commandsOf returns the commands that write a key.
func commandsOf(t *testing.T, rdb redis.UniversalClient, key string) [][]string {
	t.Helper()
	ctx := t.Context()
	switch rdb.Type(ctx, key).Val() {
	case "string":
		return [][]string{{"SET", key, rdb.Get(ctx, key).Val()}}
	case "hash":
		fields := rdb.HGetAll(ctx, key).Val()
		zeroSecret(key, fields)
		words := []string{"HSET", key}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			words = append(words, name, fields[name])
		}
		return [][]string{words}
	case "set":
		members := rdb.SMembers(ctx, key).Val()
		slices.Sort(members)
		return [][]string{append([]string{"SADD", key}, members...)}
	case "list":
		return [][]string{append([]string{"RPUSH", key}, rdb.LRange(ctx, key, 0, -1).Val()...)}
	case "zset":
		words := []string{"ZADD", key}
		for _, z := range rdb.ZRangeWithScores(ctx, key, 0, -1).Val() {
			words = append(words, strconv.FormatFloat(z.Score, 'f', -1, 64), z.Member.(string))
		}
		return [][]string{words}
	}
	return streamOf(t, rdb, key)
}

// zeroSecret makes the secret of a job's callbacks the one of zeroCallbacks.
func zeroSecret(key string, fields map[string]string) {
	_, id, _ := strings.Cut(key, "}:job:")
	if fields["signature"] != "" {
		fields["signature"] = zero.Sign(job.ID(id)).Digest()
	}
	if fields["secret"] != "" {
		fields["secret"] = string(zero)
	}
}

var zero = job.Secret(strings.Repeat("0", 64))

func streamOf(t *testing.T, rdb redis.UniversalClient, key string) (all [][]string) {
	t.Helper()
	ctx := t.Context()
	for _, entry := range rdb.XRange(ctx, key, "-", "+").Val() {
		words := []string{"XADD", key, entry.ID}
		for _, name := range slices.Sorted(maps.Keys(entry.Values)) {
			words = append(words, name, entry.Values[name].(string))
		}
		all = append(all, words)
	}
	for _, group := range rdb.XInfoGroups(ctx, key).Val() {
		all = append(all, []string{"XGROUP", "CREATE", key, group.Name, group.LastDeliveredID, "MKSTREAM"})
		for _, held := range rdb.XPendingExt(ctx, &redis.XPendingExtArgs{Stream: key, Group: group.Name, Start: "-", End: "+", Count: 1000}).Val() {
			all = append(all, []string{"XCLAIM", key, group.Name, held.Consumer, "0", held.ID, "FORCE", "JUSTID"})
		}
	}
	return all
}

// killed is the time after which what was killed when a dump was made counts as lost: leases and heartbeats lapse.
const killed = 30 * time.Second

// load writes a dump into a store, which goes on a little later than it was made.
func (d dump) load(t *testing.T, rdb redis.UniversalClient, at places) {
	t.Helper()
	ctx, pipe := t.Context(), rdb.Pipeline()
	for _, words := range d.Commands {
		args := make([]any, len(words))
		for i, word := range words {
			for text, stands := range at {
				word = strings.ReplaceAll(word, stands, text)
			}
			if coded, ok := strings.CutPrefix(word, binary); ok {
				word = string(must.Get(base64.StdEncoding.DecodeString(coded))(t))
			}
			if text, ok := strings.CutPrefix(word, zipped); ok {
				word = string(zip(t, text))
			}
			args[i] = word
		}
		if words[0] == "PEXPIRE" {
			args[2] = must.Get(time.ParseDuration(words[2]))(t).Milliseconds()
		}
		pipe.Do(ctx, args...)
	}
	by := d.Time + killed.Milliseconds() - time.Now().UnixMilli()
	for p := range 16 { // a Cluster has the clock of each partition
		pipe.HSet(ctx, fmt.Sprintf("rb:{%02x}:clock", p), "by", by, "since", 0, "count", 1)
	}
	must.Get(pipe.Exec(ctx))(t)
}

const dumpFile = "testdata/format9.json.gz"

func readDump(t *testing.T) (d dump) {
	t.Helper()
	must.OK(t, json.Unmarshal(must.Get(unzip(must.Get(os.ReadFile(dumpFile))(t)))(t), &d))
	return d
}

func (d dump) write(t *testing.T) {
	t.Helper()
	var text strings.Builder
	line := func(end string, v any) {
		b := must.Get(json.Marshal(v))(t)
		text.Write(b)
		text.WriteString(end)
	}
	text.WriteString(`{"time": `)
	line(", \"jobs\": ", d.Time)
	line(", \"commands\": [\n", d.Jobs)
	for i, words := range d.Commands {
		end := ",\n"
		if i == len(d.Commands)-1 {
			end = "\n"
		}
		line(end, words)
	}
	text.WriteString("]}\n")
	must.OK(t, os.WriteFile(dumpFile, zip(t, text.String()), 0o600))
}
