package runner

import (
	"bytes"

	"ringback/internal/sandbox/process"
)

// signatureDigits is the length of a signature. Claude writes signatures into payload
// files, and the CLI prints what Claude writes.
const signatureDigits = 64

// maskSignatures blanks out everything that looks like a signature, preserving the
// length.
func maskSignatures(text []byte) []byte {
	masked := bytes.Clone(text)
	for start := 0; start < len(masked); {
		run := digits(masked[start:])
		if run == signatureDigits {
			copy(masked[start:], bytes.Repeat([]byte{'*'}, run))
		}
		start += max(run, 1)
	}
	return masked
}

// openDigits returns the number of hex digits at the end of the text that may be the
// beginning of a signature.
func openDigits(text []byte) int {
	run := 0
	for run < len(text) && run <= signatureDigits && isDigit(text[len(text)-1-run]) {
		run++
	}
	if run > signatureDigits {
		return 0
	}
	return run
}

func digits(text []byte) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// mask blanks out signatures and secrets, preserving the length.
func mask(text []byte, secrets process.Secrets) []byte { return secrets.Hide(maskSignatures(text)) }
