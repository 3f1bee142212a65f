package callback

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/schema"
	"ringback/internal/store"
)

// suggestions accepts a result and says how many suggestions it held.
func (h *Handler) suggestions(in *call) (any, error) {
	list, _ := in.payload["suggestions"].([]any)
	if _, err := h.result(in); err != nil {
		return nil, err
	}
	received := len(list)
	return success{Success: true, Received: &received}, nil
}

// result accepts a result of any kind.
func (h *Handler) result(in *call) (any, error) {
	k, err := h.kindOf(in)
	if err != nil {
		return nil, err
	}
	accepted, details, err := k.Accept(in.payload)
	if err != nil {
		return nil, err
	}
	if details != nil {
		return nil, h.wrongPayload(in, details)
	}
	outcome, err := h.submit(in, k, store.Submission{
		Digest: accepted.Digest, Result: accepted.JSON, Received: accepted.Suggestions, Message: in.inWords(accepted.JSON),
	})
	if err != nil {
		return nil, err
	}
	if outcome != store.Accepted && outcome != store.Repeated {
		return nil, in.refused(outcome)
	}
	return success{Success: true}, nil
}

func (h *Handler) kindOf(in *call) (*kind.Kind, error) {
	k, ok := h.kinds.Get(in.facts.Kind)
	if !ok {
		return nil, job.Errorf(job.Internal, "The kind %q of this job was removed", in.facts.Kind).
			WithHint("Put its prompt and schemas back and start the server again.")
	}
	return k, nil
}

// batch accepts a part of a large result, and with the final part the whole.
func (h *Handler) batch(in *call) (any, error) {
	k, err := h.kindOf(in)
	if err != nil {
		return nil, err
	}
	items, ok := k.Result.Items("suggestions")
	if !ok {
		return nil, h.wrongPayload(in, []job.Detail{{
			Path: "", Message: fmt.Sprintf("results of kind %q are not sent in batches; submit the whole to /api/claude/result", k.Name),
		}})
	}
	if details := h.schemas.batch.Validate(in.payload); details != nil {
		return nil, h.wrongPayload(in, details)
	}
	number, _ := in.payload["batch"].(json.Number)
	index, _ := number.Int64()
	b := &batch{call: in, kind: k, index: int(index)}
	b.list, _ = in.payload["suggestions"].([]any)
	final, _ := in.payload["final"].(bool)
	if details := validateItems(items, b.list); details != nil {
		return nil, h.wrongPayload(in, details)
	}
	if !final && b.index == lastBatch {
		return nil, h.wrongPayload(in, []job.Detail{{
			Path: "/batch", Message: fmt.Sprintf("found %d, which only the final batch can be: send larger batches", lastBatch),
		}})
	}
	if final {
		return h.finalBatch(b)
	}
	return h.partBatch(b)
}

// batch is one part of a large result.
type batch struct {
	*call
	kind  *kind.Kind
	index int
	list  []any
}

// impossible says why no result can hold these items beside the batches that
// were accepted.
func (b *batch) impossible(accepted map[int]json.RawMessage) ([]job.Detail, error) {
	var before []schema.Batch
	for _, i := range slices.Sorted(maps.Keys(accepted)) {
		items, err := schema.DecodeArray(accepted[i])
		if err != nil {
			return nil, fmt.Errorf("reading batch %d: %w", i, err)
		}
		before = append(before, schema.Batch{Index: i, Items: items})
	}
	return b.kind.Result.ImpossibleWith("suggestions", before, b.list), nil
}

func validateItems(items *schema.Schema, list []any) []job.Detail {
	var details []job.Detail
	for i, item := range list {
		for _, d := range items.Validate(items.ApplyDefaults(item)) {
			if len(details) == schema.MaxDetails {
				return details
			}
			details = append(details, job.Detail{Path: fmt.Sprintf("/suggestions/%d%s", i, d.Path), Message: d.Message})
		}
	}
	return details
}

// batchTries is how often a batch is judged anew because others came between.
const batchTries = 50

// partBatch accepts a batch that is not the final one. It is judged together with
// those accepted before, and stored only if these are all there still are.
func (h *Handler) partBatch(b *batch) (any, error) {
	text, err := json.Marshal(b.list)
	if err != nil {
		return nil, err
	}
	part := store.NewBatch{Index: b.index, Digest: job.Digest(text), Items: text, Count: len(b.list), Others: store.AnyOthers}
	outcome, total := store.Stale, 0
	for range batchTries {
		if b.kind.Result.LimitsBatches() {
			var details []job.Detail
			if details, part.Others, err = h.judge(b); err != nil {
				return nil, err
			}
			if details != nil {
				return nil, h.wrongPayload(b.call, details)
			}
		}
		if outcome, total, err = h.store.Batch(b.ctx, b.id, part); err != nil || outcome != store.Stale {
			break
		}
	}
	switch {
	case err != nil:
		return nil, err
	case outcome == store.Stale:
		return nil, crowded()
	case outcome == store.Conflict:
		return nil, job.Errorf(job.Conflict, "Batch %d was already accepted with other content", b.index).
			WithHint("The first one stands. Go on with the next batch.")
	case outcome != store.Accepted && outcome != store.Repeated:
		return nil, b.refused(outcome)
	}
	received := len(b.list)
	return success{Success: true, Received: &received, Total: &total}, nil
}

// judge says what is wrong with a batch beside the others, and how many others
// there are. One that was accepted before is not judged again: it is recognised.
func (h *Handler) judge(b *batch) (details []job.Detail, others int, err error) {
	collected, err := h.store.Batches(b.ctx, b.id)
	if err != nil {
		return nil, 0, err
	}
	if _, known := collected.Items[b.index]; known {
		return nil, store.AnyOthers, nil
	}
	details, err = b.impossible(collected.Items)
	return details, len(collected.Items), err
}

func crowded() error {
	return job.Errorf(job.Unavailable, "Other batches arrived at the same moment").WithHint("Send this batch again.")
}

// finalBatch joins all batches and accepts them as the result.
func (h *Handler) finalBatch(b *batch) (any, error) {
	in, k, index, list := b.call, b.kind, b.index, b.list
	collected, err := h.store.Batches(in.ctx, in.id)
	if err != nil {
		return nil, err
	}
	submitted, err := json.Marshal(in.payload)
	if err != nil {
		return nil, err
	}
	received := len(list)
	if collected.Result != nil {
		return h.repeatedFinal(in, collected, job.Digest(submitted), received)
	}
	all, details, err := join(collected.Items, index, list)
	if err == nil && details == nil {
		details, err = b.impossible(collected.Items)
	}
	if err != nil {
		return nil, err
	}
	if details != nil {
		return nil, h.wrongPayload(in, details)
	}
	delete(in.payload, "batch")
	delete(in.payload, "final")
	in.payload["suggestions"] = all
	accepted, details, err := k.Accept(in.payload)
	if err != nil {
		return nil, err
	}
	if details != nil {
		return nil, h.wrongPayload(in, details)
	}
	total := len(all)
	last, err := partial(list, total)
	if err != nil {
		return nil, err
	}
	outcome, err := h.submit(in, k, store.Submission{
		Digest: job.Digest(submitted), Result: accepted.JSON, Received: accepted.Suggestions, Batches: index - 1, Partial: last,
		Message: in.inWords(accepted.JSON),
	})
	if err != nil {
		return nil, err
	}
	if outcome == store.Stale {
		return nil, crowded()
	}
	if outcome != store.Accepted && outcome != store.Repeated {
		return nil, in.refused(outcome)
	}
	return success{Success: true, Received: &received, Total: &total}, nil
}

// join puts the items of batches 1 to index-1 before the final ones.
func join(before map[int]json.RawMessage, index int, final []any) ([]any, []job.Detail, error) {
	var all []any
	for i := 1; i < index; i++ {
		text, ok := before[i]
		if !ok {
			return nil, []job.Detail{{Path: "/batch", Message: fmt.Sprintf("batch %d has not arrived; send it before the final one", i)}}, nil
		}
		items, err := schema.DecodeArray(text)
		if err != nil {
			return nil, nil, fmt.Errorf("reading batch %d: %w", i, err)
		}
		all = append(all, items...)
	}
	for i := range before {
		if i >= index {
			return nil, []job.Detail{{Path: "/batch", Message: fmt.Sprintf("batch %d was already accepted, so the final one must have a higher number", i)}}, nil
		}
	}
	return append(all, final...), nil, nil
}

func (h *Handler) repeatedFinal(in *call, c store.Collected, sent string, received int) (any, error) {
	if c.Digest != sent {
		return nil, in.refused(store.Conflict)
	}
	var kept struct {
		Suggestions []json.RawMessage `json:"suggestions"`
	}
	if err := json.Unmarshal(c.Result, &kept); err != nil {
		return nil, err
	}
	total := len(kept.Suggestions)
	return success{Success: true, Received: &received, Total: &total}, nil
}

func partial(list []any, total int) (json.RawMessage, error) {
	if list == nil {
		list = []any{}
	}
	return json.Marshal(struct {
		Suggestions []any `json:"suggestions"`
		Total       int   `json:"total"`
	}{list, total})
}

// inWords is a result as the chat tells it.
func (in *call) inWords(result json.RawMessage) *job.MessageBody {
	m := job.ResultInWords(result)
	m.UserID, m.SessionID = in.facts.UserID, in.facts.SessionID
	return &m
}
