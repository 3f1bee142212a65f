package config

import "ringback/internal/limit"

// Size is a number of bytes, as limit.Bytes are written; 0 has a meaning of its own for
// each variable.
type Size limit.Bytes

// UnmarshalText reads a size, or 0.
func (s *Size) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*s = 0
		return nil
	}
	return (*limit.Bytes)(s).UnmarshalText(text)
}
