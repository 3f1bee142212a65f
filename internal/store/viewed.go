package store

import (
	"context"
	"encoding/json"

	"ringback/internal/job"
)

// viewedMember returns the stored form of a person's mark of a file. Callers without a user and a
// key, as in open mode, share their marks.
func viewedMember(by job.Actor, repository, digest string) string {
	text, err := json.Marshal([]string{by.UserID, by.Key, repository, digest})
	if err != nil {
		panic("store: " + err.Error()) // strings can always be encoded
	}
	return string(text)
}

// Viewed returns the files of a job's change and which of them a person has marked as viewed. There
// are none before a change was captured.
func (s *Store) Viewed(ctx context.Context, id job.ID, by job.Actor) (job.Viewed, error) {
	v := job.Viewed{Files: []job.ViewedFile{}}
	diff, err := readChange[[]job.DiffOutput](ctx, s, id, "diff")
	if err != nil || diff == nil {
		return v, err
	}
	marks, err := s.rdb.SMembersMap(ctx, PartitionOf(id).key("viewed", string(id))).Result()
	if err != nil {
		return v, err
	}
	for _, d := range diff {
		for _, f := range d.Files {
			file := job.ViewedFile{Repository: d.Repository, Path: f.Path, Digest: f.Digest}
			if _, marked := marks[viewedMember(by, d.Repository, f.Digest)]; marked && f.Digest != "" {
				file.Viewed = true
				v.Viewed++
			}
			v.Files = append(v.Files, file)
		}
	}
	v.Changed = len(v.Files)
	return v, nil
}

// SetViewed marks a file of a job's change as viewed by a person, or removes the mark. It does
// nothing if the job is gone. Callers must check that the digest is part of the change: otherwise
// the mark has no effect.
func (s *Store) SetViewed(ctx context.Context, id job.ID, by job.Actor, repository, digest string, viewed bool) error {
	command := "SREM"
	if viewed {
		command = "SADD"
	}
	return s.keep(ctx, id, command, "viewed:"+string(id), 0, viewedMember(by, repository, digest))
}
