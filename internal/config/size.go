package config

import "ringback/internal/limit"

// Size is a number of bytes in the format of limit.Bytes; what 0 means depends on the
// variable.
type Size limit.Bytes

// UnmarshalText parses a size, or 0.
func (s *Size) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*s = 0
		return nil
	}
	return (*limit.Bytes)(s).UnmarshalText(text)
}
