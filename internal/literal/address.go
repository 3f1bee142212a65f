package literal

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// Host returns the host that an address of the web leads to, in ASCII as browsers send it, so
// that no letter of another script poses as another. ok is false if it is none of the web.
func Host(to *url.URL) (host string, ok bool) {
	host = strings.ToLower(to.Hostname())
	if net.ParseIP(host) == nil {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", false
		}
		host = ascii
	}
	return host, (to.Scheme == "http" || to.Scheme == "https") && host != ""
}

// Address returns an address of the web in visible ASCII, without characters that end or
// divide a link, and the host that it leads to. ok is false if it is none of the web.
func Address(text string) (address, host string, ok bool) {
	to, err := url.Parse(text)
	if err != nil {
		return "", "", false
	}
	if host, ok = Host(to); !ok {
		return "", "", false
	}
	port := to.Port()
	to.Host = host
	if strings.Contains(host, ":") {
		to.Host = "[" + host + "]"
	}
	if port != "" {
		to.Host += ":" + port
	}
	return escapeAddress(to.String()), host, true
}

func escapeAddress(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		if b <= ' ' || b >= 0x7f || strings.IndexByte("\"'<>\\^`{|}", b) >= 0 {
			fmt.Fprintf(&out, "%%%02X", b)
			continue
		}
		out.WriteByte(b)
	}
	return out.String()
}
