package job_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/test/must"
)

// auditLog returns the log of a job with three entries. Without an origin, a version before origins wrote it.
func auditLog(t *testing.T, id job.ID, origin string) [][]byte {
	t.Helper()
	head := new(job.AuditHead)
	var log [][]byte
	for i := range 3 {
		text, next, err := head.Append(job.AuditEntry{RequestID: id, Event: fmt.Sprint("event ", i)}, origin)
		must.OK(t, err)
		log, head = append(log, text), next
	}
	return log
}

func headOf(log [][]byte) *job.AuditHead {
	if len(log) == 0 {
		return new(job.AuditHead)
	}
	return &job.AuditHead{Count: len(log), Digest: job.Digest(log[len(log)-1])}
}

// Whoever puts another log in the place of a job's, with a head that fits, is found out.
func TestAnAuditLogIsThatOfItsJob(t *testing.T) {
	t.Parallel()
	const id, other = "req_00_a", "req_00_b"
	of := job.Job{ID: id, Kind: "trip", UserID: "u1", CreatedAt: time.Unix(100, 0)}
	origin := job.AuditOrigin(id, of.CreatedAt, of.Kind, of.UserID)
	bound := &job.AuditHead{Origin: origin}
	own, old := auditLog(t, id, origin), auditLog(t, id, "")
	foreign, foreignOld := auditLog(t, other, job.AuditOrigin(other, of.CreatedAt, of.Kind, of.UserID)), auditLog(t, other, "")
	earlier := auditLog(t, id, job.AuditOrigin(id, of.CreatedAt.Add(-time.Millisecond), of.Kind, of.UserID))
	anotherUsers := auditLog(t, id, job.AuditOrigin(id, of.CreatedAt, of.Kind, "u2"))
	anotherKind := auditLog(t, id, job.AuditOrigin(id, of.CreatedAt, "ship", of.UserID))
	stripped := slices.Concat([][]byte{bytes.Replace(own[0], []byte(origin), nil, 1)}, own[1:])
	const notItsBeginning, notItsJob = "entry 1 does not begin", `entry 1 is of the job "req_00_b"`
	for name, c := range map[string]struct {
		log [][]byte
		// inRecord is the head in the job's record; nil if an old version wrote it.
		inRecord *job.AuditHead
		fault    string
		unbound  bool
	}{
		"its own": {log: own, inRecord: bound},
		"its own, which an old version continued":  {log: own},
		"its own, begun by an old version":         {log: old, unbound: true},
		"an empty one":                             {inRecord: bound},
		"another job's":                            {log: foreign, inRecord: bound, fault: notItsJob},
		"another job's, from an old version":       {log: foreignOld, inRecord: bound, fault: notItsJob},
		"another job's in place of an old one":     {log: foreign, fault: notItsJob},
		"another's, both from an old version":      {log: foreignOld, fault: notItsJob, unbound: true},
		"that of an earlier job with the id":       {log: earlier, inRecord: bound, fault: notItsBeginning},
		"that of an earlier one, and an old one":   {log: earlier, fault: notItsBeginning},
		"that of the id for another user":          {log: anotherUsers, inRecord: bound, fault: notItsBeginning},
		"that of the id for another kind":          {log: anotherKind, inRecord: bound, fault: notItsBeginning},
		"one of the old form, for a new job":       {log: old, inRecord: bound, fault: notItsBeginning},
		"its own, then another job's":              {log: slices.Concat(own, foreign), inRecord: bound, fault: `entry 4 is of the job "req_00_b"`},
		"another job's, then its own":              {log: slices.Concat(foreign, own), inRecord: bound, fault: "entry 4 does not follow"},
		"an earlier job's, then its own":           {log: slices.Concat(earlier, own), inRecord: bound, fault: notItsBeginning},
		"its own, then an earlier job's":           {log: slices.Concat(own, earlier), inRecord: bound, fault: "entry 4 does not follow"},
		"its own twice":                            {log: slices.Concat(own, own), inRecord: bound, fault: "entry 4 does not follow"},
		"its own without the beginning":            {log: own[1:], inRecord: bound, fault: notItsBeginning},
		"an old one without the beginning":         {log: old[1:], fault: "entry 1 follows an entry that is not here", unbound: true},
		"its own with the origin taken out":        {log: stripped, inRecord: bound, fault: "entry 2 does not follow"},
		"the same, passed off as an old one":       {log: stripped, fault: "entry 2 does not follow", unbound: true},
		"one with another job's second entry":      {log: [][]byte{own[0], foreign[1], own[2]}, inRecord: bound, fault: `entry 2 is of the job "req_00_b"`},
		"one with another job's first entry":       {log: [][]byte{foreign[0], own[1], own[2]}, inRecord: bound, fault: notItsJob},
		"one with an earlier job's first entry":    {log: [][]byte{earlier[0], own[1], own[2]}, inRecord: bound, fault: notItsBeginning},
		"one whose head an earlier job's end made": {log: slices.Concat(own, earlier[2:]), inRecord: bound, fault: "entry 4 does not follow"},
	} {
		of.Audit = c.inRecord
		v := job.VerifyAudit(of, c.log, headOf(c.log), "")
		var faults []string
		for _, f := range v.Faults {
			faults = append(faults, f.Path+" "+f.Message)
		}
		all := strings.Join(faults, "\n")
		if (all == "") != (c.fault == "") || !strings.Contains(all, c.fault) {
			t.Errorf("%s: the faults are %q, want %q", name, all, c.fault)
		}
		must.Equal(t, c.unbound, v.Unbound, name, "unbound")
	}
}
