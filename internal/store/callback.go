package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// JobHeader contains what never changes about a job during a turn. It may be cached: a callback
// then needs no read before its one script, which checks the signature again.
type JobHeader struct {
	Kind        string
	KindVersion string
	UserID      string
	SessionID   string
	// Node is the node that has the job's files; empty for none.
	Node string
	// prefix is the prefix of the names of the job's events.
	prefix string
	// signature is the digest of the expected signature; empty if none is expected.
	signature string
	// secret is the secret of the signature; empty if it has expired.
	secret job.Secret
}

// Secret returns the request's secret; empty if it has expired.
func (h JobHeader) Secret() job.Secret { return h.secret }

// Signed reports, in constant time, whether sig is the request's signature.
func (h JobHeader) Signed(sig job.Signature) bool { return sig.Matches(h.signature) }

// Unsigned returns the header for a callback that was accepted without a signature.
func (h JobHeader) Unsigned() JobHeader {
	h.signature = ""
	return h
}

// Header returns what a callback is checked against, and the job's state. ok is false if the job is
// unknown.
func (cs Calls) Header(ctx context.Context, id job.ID) (f JobHeader, state job.State, ok bool, err error) {
	p, known := partitionOfID(id)
	if !known {
		return JobHeader{}, "", false, nil
	}
	pipe := cs.s.rdb.Pipeline()
	fields := pipe.HMGet(
		ctx, p.key("job", string(id)), "kind", "user", "signature", "state", "prefix", "session", "kindVersion", "node",
	)
	secret := pipe.HMGet(ctx, p.key("secret", string(id)), "secret", "until")
	if _, err := pipe.Exec(ctx); err != nil {
		return JobHeader{}, "", false, err
	}
	v := texts(fields.Val())
	if v[0] == "" {
		return JobHeader{}, "", false, nil
	}
	f = JobHeader{Kind: v[0], UserID: v[1], signature: v[2], prefix: v[4], KindVersion: v[6], Node: v[7]}
	f.SessionID = cmp.Or(v[5], id.OwnSession())
	state, f.secret = job.State(v[3]), liveSecret(secret, cs.s.clock.now(), 0)
	if !state.Terminal() && !state.Parked() && f.secret == "" {
		if f.secret, err = cs.s.graceSecret(ctx, p, secret); err == nil && f.secret == "" {
			state = job.Expired // the deadline has passed, its event is about to be sent
		}
	}
	return f, state, true, err
}

// webhookRetention is the time for which the id of a signed callback is kept: it is not accepted any longer by
// then.
const webhookRetention = 15 * time.Minute

// NoteWebhook records that an id belongs to a message of a job, of which it gets the digest. It reports
// whether the id was new, or belongs to the same message.
func (cs Calls) NoteWebhook(ctx context.Context, id job.ID, webhookID, digest string) (isSame bool, err error) {
	key := "webhook:" + string(id) + ":" + job.Digest([]byte(webhookID))
	if err := cs.s.attach(ctx, id, kept{time: webhookRetention}, "SETNX", key, digest); err != nil {
		return false, err
	}
	known, err := cs.s.rdb.Get(ctx, PartitionOf(id).key(key)).Result()
	if isNil(err) { // the job is gone
		return true, nil
	}
	return known == digest, err
}

// graceSecret is liveSecret for a secret that has expired, unless the store was unavailable until a moment ago.
func (s *Store) graceSecret(ctx context.Context, p Partition, read *redis.SliceCmd) (job.Secret, error) {
	grace, err := s.runOnTime(ctx, s.scripts.clock, p)
	if err != nil {
		return "", err
	}
	return liveSecret(read, s.clock.now(), time.Duration(grace.(int64))), nil
}

// liveSecret returns a job's secret; empty if it has none, or if it has expired and no grace period is left.
func liveSecret(read *redis.SliceCmd, now time.Time, grace time.Duration) job.Secret {
	values := texts(read.Val())
	if until := values[1]; until != "" && !millis(until).After(now) && grace == 0 {
		return ""
	}
	return job.Secret(values[0])
}

// progressReport contains the arguments of lua/progress.lua.
type progressReport struct {
	id              string
	activity        written
	digest, user    string
	now             int64
	head, signature string
	floor           uint64
}

// written is JSON that is passed to the Redis client by its pointer.
type written json.RawMessage

// MarshalBinary implements encoding.BinaryMarshaler.
func (w *written) MarshalBinary() ([]byte, error) { return *w, nil }

// runProgress passes pointers: other arguments would be allocated one by one.
func (s *Store) runProgress(ctx context.Context, p Partition, r *progressReport) (any, error) {
	return s.crowd.run(ctx, p, &r.id, &r.activity, &r.digest, &r.user, &r.now, &r.head, &r.signature, &r.floor)
}

// Progress stores a progress report of a job. digest identifies the report, so that a repeated one
// does not emit a second event.
func (cs Calls) Progress(
	ctx context.Context, id job.ID, h JobHeader, activity json.RawMessage, digest string,
) (lifecycle.Outcome, error) {
	p, err := locate(id)
	if err != nil {
		return lifecycle.Outcome{}, err
	}
	now := cs.s.clock.now()
	event := lifecycle.Recipient{EventPrefix: h.prefix, JobID: id, KindVersion: h.KindVersion}
	r := progressReport{
		id: string(id), activity: written(activity), digest: digest, user: h.UserID,
		now: now.UnixMilli(), head: eventHead(event, job.EventActivity, now), signature: h.signature, floor: uint64(cs.s.past.floor(p)),
	}
	answer, err := cs.s.runProgress(ctx, p, &r)
	if answer == "expired" { // unless Redis' clock has jumped
		if _, _, err = cs.s.runTimed(ctx, cs.s.scripts.clock, p); err == nil {
			answer, err = cs.s.runProgress(ctx, p, &r)
		}
	}
	if err != nil {
		return lifecycle.Outcome{}, err
	}
	switch answer {
	case int64(0), int64(1):
		return lifecycle.Outcome{Kind: lifecycle.Accepted, Waiting: answer == int64(1)}, nil
	case "unknown":
		return lifecycle.Outcome{Kind: lifecycle.Unknown}, nil
	case "bad_signature":
		return lifecycle.Outcome{}, lifecycle.WrongSignature()
	}
	return lifecycle.RefusedIn(job.State(answer.(string))), nil
}

// Step adds to the number of tool calls in a job's running turn. It returns the total so far, and
// whether a message is waiting that the turn could receive.
func (cs Calls) Step(ctx context.Context, id job.ID, calls int) (total int, waiting bool, err error) {
	answer, err := cs.s.runJob(ctx, cs.s.scripts.step, id, calls)
	if err != nil {
		return 0, false, err
	}
	numbers, _ := answer.([]any)
	if len(numbers) != 2 {
		return 0, false, fmt.Errorf("step of %s: answered %v", id, answer)
	}
	n, _ := numbers[0].(int64)
	return int(n), numbers[1] == int64(1), nil
}

// Collected is the part of a batched result that was accepted so far.
type Collected struct {
	// Items contains the items of each batch, by index.
	Items map[int]json.RawMessage
	// Result and Digest are set once the final batch was accepted.
	Result json.RawMessage
	Digest string
}

// Batches returns the batches accepted so far.
func (cs Calls) Batches(ctx context.Context, id job.ID) (Collected, error) {
	p, err := locate(id)
	if err != nil {
		return Collected{}, err
	}
	pipe := cs.s.rdb.Pipeline()
	batches := pipe.HGetAll(ctx, p.key("batches", string(id)))
	digest := pipe.HGet(ctx, p.key("job", string(id)), "digest")
	result := pipe.Get(ctx, p.key("result", string(id)))
	if _, err := pipe.Exec(ctx); ignoreNil(err) != nil {
		return Collected{}, err
	}
	c := Collected{Items: make(map[int]json.RawMessage, len(batches.Val()))}
	if c.Digest = digest.Val(); c.Digest != "" && result.Val() != "" {
		c.Result = json.RawMessage(result.Val())
	}
	for index, stored := range batches.Val() {
		b, err := decodeBatch(stored)
		if err != nil {
			return Collected{}, err
		}
		c.Items[atoi(index)] = b.Items
	}
	return c, nil
}
