package callback

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/rules/schema"
	"ringback/internal/store"
)

const lastBatch = 1000

const batchSchema = `{
  "type": "object",
  "required": ["batch", "suggestions"],
  "properties": {
    "batch": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "The number of the batch, from 1."},
    "final": {"type": "boolean", "description": "True for the last batch; default false."},
    "suggestions": {"type": "array", "description": "The items of this batch."},
    "reasoning": {"type": "string", "description": "The reasoning for the whole result, with the last batch."}
  }
}`

// batch accepts a part of a large result, and with the final part the whole.
func (h *Handler) batch(in *call) (json.RawMessage, error) {
	k, err := h.kindOf(in)
	if err != nil {
		return nil, err
	}
	items, ok := k.Result.Items("suggestions")
	if !ok {
		return nil, h.wrongPayload(in, []job.Detail{{
			Path: "", Message: fmt.Sprintf("results of kind %q are not sent in batches; submit the whole result to /api/claude/result", k.Name),
		}})
	}
	if details := h.schemas[batchSchema].Validate(in.payload); details != nil {
		return nil, h.wrongPayload(in, details)
	}
	b := &batch{call: in, kind: k}
	number, _ := in.payload["batch"].(json.Number)
	b.index, _ = job.Whole(number)
	b.final, _ = in.payload["final"].(bool)
	b.list, _ = in.payload["suggestions"].([]any)
	if details := validateItems(items, b.list); details != nil {
		return nil, h.wrongPayload(in, details)
	}
	if !b.final && b.index == lastBatch {
		return nil, h.wrongPayload(in, []job.Detail{{
			Path: "/batch", Message: fmt.Sprintf("found %d, which only the final batch can be: send larger batches", lastBatch),
		}})
	}
	accept := h.partBatch
	if b.final {
		accept = h.finalBatch
	}
	total, err := accept(b)
	return job.MustJSON(receivedBatch{Success: true, Received: len(b.list), Total: total}), err
}

// batch is one part of a large result.
type batch struct {
	*call
	kind *kind.Kind
	// index counts batches from 1; final is set if the result is complete with this one.
	index int
	final bool
	list  []any
}

func decoded(accepted map[int]json.RawMessage) ([]schema.Batch, error) {
	var all []schema.Batch
	for _, i := range slices.Sorted(maps.Keys(accepted)) {
		items, err := schema.DecodeArray(accepted[i])
		if err != nil {
			return nil, fmt.Errorf("reading batch %d: %w", i, err)
		}
		all = append(all, schema.Batch{Index: i, Items: items})
	}
	return all, nil
}

// impossible returns why no result can contain these items together with the accepted batches.
func (b *batch) impossible(accepted []schema.Batch) []job.Detail {
	return b.kind.Result.ImpossibleWith("suggestions", accepted, b.list)
}

func validateItems(items *schema.Schema, list []any) []job.Detail {
	var details []job.Detail
	for i := 0; i < len(list) && len(details) < schema.MaxDetails; i++ {
		faults := items.Validate(items.ApplyDefaults(list[i]))
		details = append(details, job.Under(fmt.Sprintf("/suggestions/%d", i), faults)...)
	}
	return details[:min(len(details), schema.MaxDetails)]
}

// batchTries limits how often a batch is validated again because others came in between.
const batchTries = 50

// partBatch accepts a batch that is not the final one, and returns the number of items so far. It is validated
// together with the accepted ones, and stored only if no others have arrived since.
func (h *Handler) partBatch(b *batch) (total int, err error) {
	text := job.MustJSON(b.list)
	part := lifecycle.NewBatch{
		Index: b.index, Digest: job.Digest(text), Items: text, Count: len(b.list), Others: lifecycle.AnyOthers,
	}
	var outcome lifecycle.Outcome
	for range batchTries {
		if b.kind.Result.LimitsBatches("suggestions") {
			var details []job.Detail
			if details, part.Others, err = h.judge(b); err != nil {
				return 0, err
			}
			if details != nil {
				return 0, h.wrongPayload(b.call, details)
			}
		}
		if outcome, total, err = h.jobs.AddBatch(b.ctx, b.id, part); err != nil || outcome.Kind != lifecycle.Stale {
			break
		}
	}
	if outcome.Kind == lifecycle.Conflict {
		return 0, job.Errorf(job.Conflict, "Batch %d was already accepted with other content", b.index).
			WithHint("The first one counts. Continue with the next batch.")
	}
	return total, b.outcomeError(outcome, err)
}

// judge returns what is wrong with a batch given the others, and the number of others.
// A batch that was already accepted is not validated again, but recognized.
func (h *Handler) judge(b *batch) (details []job.Detail, others int, err error) {
	collected, err := h.store.Calls.Batches(b.ctx, b.id)
	if err != nil {
		return nil, 0, err
	}
	if _, known := collected.Items[b.index]; known {
		return nil, lifecycle.AnyOthers, nil
	}
	accepted, err := decoded(collected.Items)
	return b.impossible(accepted), len(accepted), err
}

// finalBatch joins all batches, accepts them as the result, and returns the number of their items.
func (h *Handler) finalBatch(b *batch) (total int, err error) {
	collected, err := h.store.Calls.Batches(b.ctx, b.id)
	if err != nil {
		return 0, err
	}
	digest := job.Digest(job.MustJSON(b.payload))
	if collected.Result != nil {
		return repeatedFinal(b, collected, digest)
	}
	accepted, err := decoded(collected.Items)
	if err != nil {
		return 0, err
	}
	all, details := join(accepted, b.index, b.list)
	if details == nil {
		details = b.impossible(accepted)
	}
	if details != nil {
		return 0, h.wrongPayload(b.call, details)
	}
	return h.submitJoined(b, all, digest)
}

// submitJoined submits the result that the final batch completes. digest identifies the
// final batch if it is sent again.
func (h *Handler) submitJoined(b *batch, all []any, digest string) (total int, err error) {
	delete(b.payload, "batch")
	delete(b.payload, "final")
	b.payload["suggestions"] = all
	accepted, details, err := b.kind.Accept(b.payload, h.inputOf(b.call))
	if err != nil {
		return 0, err
	}
	if details != nil {
		return 0, h.wrongPayload(b.call, details)
	}
	outcome, err := h.jobs.Accept(b.ctx, b.id, lifecycle.Submission{
		Digest: digest, Result: accepted.JSON, Received: accepted.Suggestions, Batches: b.index - 1,
		Partial: job.MustJSON(map[string]any{"suggestions": b.list, "total": len(all)}),
		Message: b.resultMessage(accepted.JSON),
	})
	return len(all), b.outcomeError(outcome, err)
}

// receivedBatch contains the number of items in a batch, and of all items so far.
type receivedBatch struct {
	Success  bool `json:"success"`  // Always true.
	Received int  `json:"received"` // The number of items in this batch.
	Total    int  `json:"total"`    // The number of items received so far.
	withMessages
}

// join puts the items of batches 1 to index-1 before the final ones.
func join(before []schema.Batch, index int, final []any) (all []any, details []job.Detail) {
	for i := 1; i <= max(index-1, len(before)); i++ {
		switch {
		case i < index && (i > len(before) || before[i-1].Index != i):
			return nil, []job.Detail{{Path: "/batch", Message: fmt.Sprintf("batch %d has not arrived; send it before the final one", i)}}
		case i >= index:
			return nil, []job.Detail{{
				Path:    "/batch",
				Message: fmt.Sprintf("batch %d was already accepted, so the final one must have a higher number", before[i-1].Index),
			}}
		}
		all = append(all, before[i-1].Items...)
	}
	return append(all, final...), nil
}

// repeatedFinal returns the number of items of a result that was accepted with the same final batch.
func repeatedFinal(b *batch, c store.Collected, sent string) (total int, err error) {
	if c.Digest != sent {
		return 0, b.refused(lifecycle.Outcome{Kind: lifecycle.Conflict})
	}
	var kept struct {
		Suggestions []json.RawMessage `json:"suggestions"`
	}
	if err := json.Unmarshal(c.Result, &kept); err != nil {
		return 0, err
	}
	return len(kept.Suggestions), nil
}
