package store

import (
	"context"
	_ "embed"
	"slices"
	"strings"
)

//go:embed keys.txt
var keysText string

// keyPattern describes one kind of key that the store writes, as keys.txt explains.
type keyPattern struct{ Pattern, Type string }

// keyPatterns lists all keys.
var keyPatterns = func() (all []keyPattern) {
	for line := range strings.Lines(keysText) {
		if column := strings.SplitN(line, " | ", 3); len(column) == 3 {
			all = append(all, keyPattern{column[0], column[1]})
		}
	}
	return all
}()

// ofJob are the names of the keys that belong to a job, its record among them, and ofTurn of those
// that belong to a turn.
var ofJob, ofTurn = namesBefore(":<job>"), namesBefore(":<job>:<turn>")

func namesBefore(rest string) (names []string) {
	for _, k := range keyPatterns {
		if name, ok := strings.CutSuffix(k.Pattern, rest); ok {
			names = append(names, name)
		}
	}
	return names
}

// keyTypes are the types of the values, by the names of their keys.
var keyTypes = func() map[string]string {
	types := map[string]string{}
	for _, k := range keyPatterns {
		name, _, _ := strings.Cut(k.Pattern, ":")
		types[name] = k.Type
	}
	return types
}()

// typeOf returns Redis' name for the type of a value.
func typeOf(name string) string {
	typ, _, _ := strings.Cut(keyTypes[name], " ")
	return typ
}

func refersToRecords(name string) bool { return strings.HasSuffix(keyTypes[name], " of records") }

// strays are the problems reported for members that do not belong in their set, list or hash.
var strays = map[string]string{
	"acting":   "a run of an action is watched, but not running",
	"line":     "a job is queued, but not waiting for a worker",
	"running":  "a worker is counted, but held by no turn",
	"standing": "an approval is kept for a job that has ended",
	"waiting":  "a job is kept waiting, but not waiting",
}

// Unknown returns keys of the store, and fields of its records, that are not listed: at most 100
// keys. It reads everything, and is meant for tests and for debugging.
func (s *Store) Unknown(ctx context.Context) ([]string, error) {
	var unknown []string
	keys := s.rdb.Scan(ctx, 0, "rb:*", 1000).Iterator()
	for keys.Next(ctx) && len(unknown) < 100 {
		k, ok := parseKey(keys.Val())
		switch {
		case strings.HasPrefix(keys.Val(), "rb:session:{"):
		case !ok || keyTypes[k.name] == "":
			unknown = append(unknown, keys.Val())
		case knownFields[k.name] != nil:
			fields, err := s.rdb.HKeys(ctx, k.key()).Result()
			if err != nil {
				return nil, err
			}
			for _, field := range fields {
				if !slices.Contains(knownFields[k.name], field) && (k.name != "session" || !strings.HasPrefix(field, "waits:")) {
					unknown = append(unknown, k.key()+" "+field)
				}
			}
		}
	}
	return unknown, keys.Err()
}

// knownFields are the fields of records. lifecycle.Record does not have two of those in a job's hash.
var knownFields = map[string][]string{
	"job":        append(fieldNames(recordFields), "activity", "recentDigests"),
	"checkpoint": fieldNames(checkpointFields),
	"action":     fieldNames(runFields),
	"session":    fieldNames(sessionFields),
	"limit":      fieldNames(limitFields),
}

func fieldNames(fields []storedField) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}
