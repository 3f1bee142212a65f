package simulated

import "encoding/json"

// textsOf returns the strings in a list.
func textsOf(v any) []string {
	list, _ := v.([]any)
	var all []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// numberIn returns a number from the input, or otherwise if it has none.
func numberIn(input map[string]any, field string, otherwise float64) float64 {
	if n, ok := input[field].(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			return f
		}
	}
	return otherwise
}
