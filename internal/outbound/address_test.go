package outbound_test

import (
	"testing"

	"ringback/internal/outbound"
	"ringback/test/must"
)

func TestAWebAddressHasOneSpelling(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://example.com/a": true, "http://127.0.0.1:8080": true, "http://[::1]/": true, "http://localhost:3000": true, "https://bücher.example/": true,
		"http://127.1/": false, "http://2130706433/": false, "http://0x7f.1/": false, "http://１２７.０.０.１/": false, "http://127。0。0。1/": false, "http://０x7f.1/": false,
		"http://a.１/": false, "gopher://example.com/": false, "http://": false, "http://[fe80::1%25eth0]/": false, "http://example.com:65616/": false,
	} {
		must.Equal(t, want, outbound.IsWebAddress(address), address)
	}
}
