package schema

import "math"

// numberOf generates a number: 1 if it is allowed, else one near the bounds.
func numberOf(s map[string]any) any {
	r := rangeOf(s)
	step := limit(s, "multipleOf", 0)
	if typeOf(s) == "integer" {
		step = max(1, math.Ceil(step))
	}
	if step > 0 {
		return whole(r.multiple(step))
	}
	return whole(r.any())
}

// span is the range that the bounds allow; infinite without a bound.
type span struct {
	low, high         float64
	aboveLow, belowUp bool // the bound itself is excluded
}

func rangeOf(s map[string]any) span {
	r := span{low: limit(s, "minimum", math.Inf(-1)), high: limit(s, "maximum", math.Inf(1))}
	if low := limit(s, "exclusiveMinimum", math.Inf(-1)); low >= r.low && !math.IsInf(low, -1) {
		r.low, r.aboveLow = low, true
	}
	if high := limit(s, "exclusiveMaximum", math.Inf(1)); high <= r.high && !math.IsInf(high, 1) {
		r.high, r.belowUp = high, true
	}
	return r
}

func (r span) holds(v float64) bool {
	return (v > r.low || v == r.low && !r.aboveLow) && (v < r.high || v == r.high && !r.belowUp)
}

// multiple returns the multiple of step that is nearest to the lower bound, or to the upper
// one if there is no lower one.
func (r span) multiple(step float64) float64 {
	v := step
	switch {
	case r.holds(v):
		return v
	case !math.IsInf(r.low, -1):
		v = math.Ceil(r.low/step) * step
		if !r.holds(v) {
			v += step
		}
	default:
		v = math.Floor(r.high/step) * step
		if !r.holds(v) {
			v -= step
		}
	}
	return v
}

func (r span) any() float64 {
	switch {
	case r.holds(1):
		return 1
	case math.IsInf(r.low, -1):
		return r.high - 1
	case math.IsInf(r.high, 1):
		return r.low + 1
	}
	return (r.low + r.high) / 2
}

// whole returns whole numbers as integers.
func whole(v float64) any {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return int64(v)
	}
	return v
}
