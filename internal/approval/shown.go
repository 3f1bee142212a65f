package approval

import "ringback/internal/literal"

// Shown returns the whole input of a call as people are shown it: indented JSON with its
// keys sorted, so that neither what stands first nor how it is written is Claude's choice.
func (c ToolCall) Shown() string { return literal.Indented(c.Input) }
