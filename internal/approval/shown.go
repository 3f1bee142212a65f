package approval

import "ringback/internal/literal"

// Shown returns the whole input of a call as people see it: indented JSON with sorted keys,
// so that Claude chooses neither the order nor the notation.
func (c ToolCall) Shown() string { return literal.Indented(c.Input) }
