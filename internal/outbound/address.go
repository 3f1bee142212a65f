package outbound

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// IsWebAddress reports whether a text is a whole http or https URL of a host with one spelling.
func IsWebAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	host := u.Hostname()
	if ascii, err := idna.Lookup.ToASCII(host); err == nil && ascii != strings.ToLower(host) { // as net/http does
		if _, err := netip.ParseAddr(ascii); err == nil {
			return false
		}
		host = ascii
	}
	_, isHost := canonical(host)
	_, err = strconv.ParseUint(u.Port(), 10, 16)
	return isHost && (u.Port() == "" || err == nil)
}

// canonical returns the one spelling of a host, and whether it has one: whether it is an address in its usual
// form, or a name that no program reads as an address.
func canonical(host string) (name string, isHost bool) {
	name = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().String(), ip.Zone() == ""
	}
	return name, isHostPattern(name) && !strings.Contains(name, "*")
}
